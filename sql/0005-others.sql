-- SPDX-License-Identifier: MIT
-- Runs side by side in one work tree: what others keep there.

PRAGMA user_version = 5;

ALTER TABLE run ADD COLUMN others TEXT;
