-- SPDX-License-Identifier: MIT
-- The malformed answer that the reviewer of a slot is asked about.

PRAGMA user_version = 18;

ALTER TABLE slot ADD COLUMN asked INTEGER;
ALTER TABLE slot ADD COLUMN asked_why TEXT;
