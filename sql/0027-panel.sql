-- SPDX-License-Identifier: MIT
-- Panels of reviewers: the voters of a slot, whose votes they are, what a panel has decided, and the reviewers that have a
-- finding. NULL: no panel.

PRAGMA user_version = 27;

ALTER TABLE slot ADD COLUMN voter_of INTEGER;
ALTER TABLE slot ADD COLUMN reviewer TEXT;

ALTER TABLE attempt ADD COLUMN reviewer TEXT;

ALTER TABLE review ADD COLUMN reviewer TEXT;
ALTER TABLE review ADD COLUMN votes TEXT;

ALTER TABLE finding ADD COLUMN reviewers TEXT;
