-- SPDX-License-Identifier: MIT
-- Protected paths that the work of a slot touches: a human decides about it.

PRAGMA user_version = 15;

ALTER TABLE slot ADD COLUMN protected_paths TEXT;
