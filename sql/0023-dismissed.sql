-- SPDX-License-Identifier: MIT
-- Findings that users dismissed: a JSON array, see core/dismissal.h; NULL: none.

PRAGMA user_version = 23;

ALTER TABLE run ADD COLUMN dismissed TEXT;
