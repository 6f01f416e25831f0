-- SPDX-License-Identifier: MIT
-- Warnings that a run gives once, by kind.

PRAGMA user_version = 9;

-- A set of enum warning_kind, from how the sentences of earlier versions read.
ALTER TABLE run ADD COLUMN warned INTEGER;
UPDATE run SET warned = ifnull((warnings GLOB '*(max_wall)*') + 2 * (warnings GLOB '*time zone*'), 0);
