-- SPDX-License-Identifier: MIT
-- Findings that fixers disputed: a JSON array, see core/dispute.h; NULL: none.

PRAGMA user_version = 25;

ALTER TABLE run ADD COLUMN disputed TEXT;
