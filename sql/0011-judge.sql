-- SPDX-License-Identifier: MIT
-- What judges a run, as it was at its submit. Runs of earlier versions have none here, but files in their directory.

PRAGMA user_version = 11;

CREATE TABLE judge (
	run           INTEGER PRIMARY KEY REFERENCES run (id),
	profile       TEXT,
	reviewer      TEXT,
	guidelines    TEXT,
	conventions   TEXT,
	files         TEXT,
	kept_from     INTEGER
) STRICT;

CREATE TRIGGER judge_is_never_changed BEFORE UPDATE ON judge BEGIN
	SELECT RAISE(ABORT, 'judge rows are written once');
END;

CREATE TRIGGER judge_is_never_deleted BEFORE DELETE ON judge BEGIN
	SELECT RAISE(ABORT, 'judge rows are written once');
END;
