-- SPDX-License-Identifier: MIT
-- What was judged, and what judged it.

PRAGMA user_version = 10;

CREATE TABLE product (
	run           INTEGER NOT NULL REFERENCES run (id),
	number        INTEGER NOT NULL,
	kind          TEXT NOT NULL,
	task_id       TEXT,
	tree          TEXT NOT NULL,
	parent        INTEGER,
	attempt       INTEGER,
	created_at    INTEGER NOT NULL,
	previous_hash TEXT,
	hash          TEXT NOT NULL,
	PRIMARY KEY (run, number)
) STRICT;

CREATE TABLE evidence (
	run           INTEGER NOT NULL REFERENCES run (id),
	number        INTEGER NOT NULL,
	product       INTEGER,
	task_id       TEXT,
	kind          TEXT NOT NULL,
	subject       TEXT NOT NULL,
	tree          TEXT,
	setup_hash    TEXT,
	env_hash      TEXT,
	attempt       INTEGER,
	review        INTEGER,
	exit_code     INTEGER,
	output_hash   TEXT,
	result        TEXT NOT NULL,
	from_run      INTEGER,
	from_attempt  INTEGER,
	created_at    INTEGER NOT NULL,
	previous_hash TEXT,
	hash          TEXT NOT NULL,
	PRIMARY KEY (run, number)
) STRICT;

CREATE INDEX evidence_of_tree ON evidence (tree, created_at) WHERE kind = 'check';

CREATE TRIGGER product_is_never_changed BEFORE UPDATE ON product BEGIN
	SELECT RAISE(ABORT, 'product rows are append-only');
END;

CREATE TRIGGER product_is_never_deleted BEFORE DELETE ON product BEGIN
	SELECT RAISE(ABORT, 'product rows are append-only');
END;

CREATE TRIGGER evidence_is_never_changed BEFORE UPDATE ON evidence BEGIN
	SELECT RAISE(ABORT, 'evidence rows are append-only');
END;

CREATE TRIGGER evidence_is_never_deleted BEFORE DELETE ON evidence BEGIN
	SELECT RAISE(ABORT, 'evidence rows are append-only');
END;

-- Lengths and heads of their chains. NULL: the run began with an earlier version, and has none.
ALTER TABLE run ADD COLUMN product_count INTEGER;
ALTER TABLE run ADD COLUMN product_head TEXT;
ALTER TABLE run ADD COLUMN evidence_count INTEGER;
ALTER TABLE run ADD COLUMN evidence_head TEXT;

-- SHA-256 of what it wrote on standard output.
ALTER TABLE attempt ADD COLUMN output_hash TEXT;

-- The newest product.
ALTER TABLE slot ADD COLUMN product INTEGER;

-- The attempt of the current check that was red, while it is run once more.
ALTER TABLE slot ADD COLUMN red_check INTEGER;

-- The evidence repository of a run, and whether the settings copied there are those of an earlier run. Unfinished runs of
-- earlier versions have none, and go on in the user's repository.
ALTER TABLE run ADD COLUMN evidence TEXT;
ALTER TABLE run ADD COLUMN settings_kept INTEGER;

-- What the prompt of a reviewer leaves out of the diff. NULL: nothing.
ALTER TABLE attempt ADD COLUMN left_out TEXT;
ALTER TABLE attempt ADD COLUMN left_out_files INTEGER;
ALTER TABLE attempt ADD COLUMN diff_bytes INTEGER;
ALTER TABLE attempt ADD COLUMN diff_shown INTEGER;

-- How often a hook of the repository changed what was committed.
ALTER TABLE slot ADD COLUMN hook_changes INTEGER NOT NULL DEFAULT 0;

-- Set-up commands of its work tree or room that have begun.
ALTER TABLE slot ADD COLUMN setup INTEGER;
-- Whether its room is one of the base, which is being prepared for others.
ALTER TABLE slot ADD COLUMN prepares INTEGER NOT NULL DEFAULT 0;
-- SHA-256 of what run.copy brings to its work tree or room.
ALTER TABLE slot ADD COLUMN copied_hash TEXT;
-- Set-up attempts in a row that were lost.
ALTER TABLE slot ADD COLUMN setup_lost INTEGER;
-- What the user's directory has, and a clean checkout of its base lacks; and the settings that bring it.
ALTER TABLE slot ADD COLUMN remedy TEXT;
-- Whether its checks were run on its base.
ALTER TABLE slot ADD COLUMN base INTEGER;
UPDATE slot SET setup = 0, setup_lost = 0, base = 0;
