-- SPDX-License-Identifier: MIT
-- The work of a slot as it was before a merge that is being judged: a retry continues with it.

PRAGMA user_version = 26;

ALTER TABLE slot ADD COLUMN own_commit TEXT;
ALTER TABLE slot ADD COLUMN own_base_commit TEXT;
ALTER TABLE slot ADD COLUMN own_base_tree TEXT;
