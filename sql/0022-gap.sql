-- SPDX-License-Identifier: MIT
-- Whether checks before the current one of a slot did not run in its room, because they are known to be green.

PRAGMA user_version = 22;

ALTER TABLE slot ADD COLUMN gap INTEGER NOT NULL DEFAULT 0;
