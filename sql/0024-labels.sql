-- SPDX-License-Identifier: MIT
-- Labels of a run, a JSON object of strings; NULL: none.

PRAGMA user_version = 24;

ALTER TABLE run ADD COLUMN labels TEXT;
