-- SPDX-License-Identifier: MIT
-- How far the merge of a slot's commits has come.

PRAGMA user_version = 17;

ALTER TABLE slot ADD COLUMN merge TEXT;
