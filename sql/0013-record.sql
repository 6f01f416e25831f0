-- SPDX-License-Identifier: MIT
-- The record: rows that change while they live, in their last form.

PRAGMA user_version = 13;

CREATE TABLE entry (
	run           INTEGER NOT NULL REFERENCES run (id),
	number        INTEGER NOT NULL,
	kind          TEXT NOT NULL,
	key           TEXT NOT NULL,
	row_hash      TEXT NOT NULL,
	created_at    INTEGER NOT NULL,
	previous_hash TEXT,
	hash          TEXT NOT NULL,
	PRIMARY KEY (run, number)
) STRICT;

CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry BEGIN
	SELECT RAISE(ABORT, 'entry rows are append-only');
END;

CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry BEGIN
	SELECT RAISE(ABORT, 'entry rows are append-only');
END;

-- Length and head of that chain. NULL: the run began with an earlier version, and has none. A hash leaves out what is
-- NULL, so rows of earlier versions keep theirs.
ALTER TABLE run ADD COLUMN entry_count INTEGER;
ALTER TABLE run ADD COLUMN entry_head TEXT;

-- What an attempt was given, and what ran.
ALTER TABLE attempt ADD COLUMN output_size INTEGER;
ALTER TABLE attempt ADD COLUMN prompt_hash TEXT;
ALTER TABLE attempt ADD COLUMN diff_hash TEXT;
ALTER TABLE attempt ADD COLUMN program TEXT;
ALTER TABLE attempt ADD COLUMN program_hash TEXT;
ALTER TABLE attempt ADD COLUMN program_version TEXT;
ALTER TABLE attempt ADD COLUMN answered_by TEXT;

-- By which policy, for which user, by which version of rld it was judged; and by which process, if a human did.
ALTER TABLE evidence ADD COLUMN policy_hash TEXT;
ALTER TABLE evidence ADD COLUMN submitter INTEGER;
ALTER TABLE evidence ADD COLUMN daemon TEXT;
ALTER TABLE evidence ADD COLUMN by_uid INTEGER;
ALTER TABLE evidence ADD COLUMN by_pid INTEGER;
ALTER TABLE evidence ADD COLUMN by_attempt INTEGER;
ALTER TABLE hold ADD COLUMN by_uid INTEGER;
ALTER TABLE hold ADD COLUMN by_pid INTEGER;
ALTER TABLE hold ADD COLUMN by_attempt INTEGER;
