-- SPDX-License-Identifier: MIT
-- Where a check or a reviewer judged: "clone", a clean room; "reuse", a room in which earlier trees of the task were judged;
-- "same", where the work was done. NULL: a human judged, or an earlier version recorded it.

PRAGMA user_version = 20;

ALTER TABLE evidence ADD COLUMN room TEXT;
