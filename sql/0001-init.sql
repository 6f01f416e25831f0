-- SPDX-License-Identifier: MIT
-- The first schema. Columns are the fields of daemon/core/row.h; states are stored as their names (core/state.h).
-- Migrations are append-only: once released, a file of this folder with a number is never changed.

-- Each file runs in one transaction and sets user_version to its own number.
PRAGMA user_version = 1;

-- "rld1": tells our file from another program's.
PRAGMA application_id = 0x726c6431;

-- AUTOINCREMENT: an id is never used again, whatever is pruned.
CREATE TABLE run (
	id             INTEGER PRIMARY KEY AUTOINCREMENT,
	owner          INTEGER NOT NULL,
	key            TEXT,
	body_hash      TEXT,
	workdir        TEXT NOT NULL,
	workspace      TEXT,
	has_git        INTEGER,
	source         TEXT NOT NULL,
	state          TEXT NOT NULL,
	reason         TEXT,
	cause          TEXT,
	priority       INTEGER,
	iteration      INTEGER,
	iterations     INTEGER,
	plan           TEXT,
	environment    TEXT,
	base_tree      TEXT,
	result_ref     TEXT,
	result_tree    TEXT,
	result_attempt INTEGER,
	review_count   INTEGER,
	review_head    TEXT,
	warnings       TEXT,
	retry_of       INTEGER,
	created_at     INTEGER,
	started_at     INTEGER,
	ended_at       INTEGER
) STRICT;

CREATE UNIQUE INDEX run_by_key ON run (owner, key) WHERE key IS NOT NULL;
CREATE INDEX run_by_state ON run (state, id);
CREATE INDEX run_by_owner ON run (owner, id);
CREATE INDEX run_by_owner_state ON run (owner, state, id);
CREATE INDEX run_unfinished ON run (id) WHERE state NOT IN ('succeeded', 'failed', 'cancelled');

CREATE TABLE task (
	run    INTEGER NOT NULL REFERENCES run (id),
	id     TEXT NOT NULL,
	title  TEXT,
	size   INTEGER,
	state  TEXT NOT NULL,
	reason TEXT,
	PRIMARY KEY (run, id)
) STRICT;

-- Tasks of a run in the order in which they came: (run, rowid).
CREATE INDEX task_in_order ON task (run);

-- Apart from task, whose rows are rewritten at each change of state: a text may have 16 MiB.
CREATE TABLE task_text (
	run  INTEGER NOT NULL,
	id   TEXT NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (run, id),
	FOREIGN KEY (run, id) REFERENCES task (run, id)
) STRICT;

CREATE TABLE iteration (
	run        INTEGER NOT NULL REFERENCES run (id),
	number     INTEGER NOT NULL,
	state      TEXT NOT NULL,
	started_at INTEGER,
	ended_at   INTEGER,
	PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE slot (
	run                  INTEGER NOT NULL REFERENCES run (id),
	iteration            INTEGER NOT NULL,
	slot                 INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 65535),
	stage                TEXT NOT NULL,
	task                 TEXT,
	round                INTEGER,
	fix                  INTEGER,
	stalled              INTEGER,
	attempt              INTEGER,
	answer               INTEGER,
	answer_hash          TEXT,
	tree                 TEXT,
	previous_tree        TEXT,
	previous_answer_hash TEXT,
	diff                 INTEGER,
	interrupted          INTEGER,
	reason               TEXT,
	cause                TEXT,
	PRIMARY KEY (run, iteration, slot)
) STRICT;

CREATE TABLE attempt (
	id                 INTEGER PRIMARY KEY AUTOINCREMENT,
	run                INTEGER NOT NULL REFERENCES run (id),
	number             INTEGER NOT NULL,
	iteration          INTEGER,
	slot               INTEGER,
	task               TEXT,
	role               TEXT NOT NULL,
	round              INTEGER,
	agent              TEXT,
	model              TEXT,
	uuid               TEXT NOT NULL UNIQUE,
	boot_id            TEXT,
	state              TEXT NOT NULL,
	exit_code          INTEGER,
	signal             INTEGER,
	cause              TEXT,
	process            TEXT NOT NULL,
	provider           TEXT NOT NULL,
	outcome            TEXT NOT NULL,
	tokens_input       INTEGER,
	tokens_cached      INTEGER,
	tokens_cache_write INTEGER,
	tokens_output      INTEGER,
	tokens_reasoning   INTEGER,
	cost_usd           REAL,
	session            TEXT,
	answer_hash        TEXT,
	bytes              INTEGER,
	started_at         INTEGER,
	ended_at           INTEGER,
	UNIQUE (run, number)
) STRICT;

CREATE TABLE step (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	run        INTEGER NOT NULL REFERENCES run (id),
	slot       INTEGER,
	name       TEXT NOT NULL,
	uuid       TEXT NOT NULL UNIQUE,
	boot_id    TEXT,
	state      TEXT NOT NULL,
	exit_code  INTEGER,
	signal     INTEGER,
	cause      TEXT,
	started_at INTEGER,
	ended_at   INTEGER
) STRICT;

CREATE INDEX step_unfinished ON step (run) WHERE state IN ('starting', 'running');

-- Attempts and steps have one counter, since they have one folder of directories.
CREATE TRIGGER attempt_id_is_no_step BEFORE INSERT ON attempt WHEN EXISTS (SELECT 1 FROM step WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'a step has this id');
END;

CREATE TRIGGER step_id_is_no_attempt BEFORE INSERT ON step WHEN EXISTS (SELECT 1 FROM attempt WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'an attempt has this id');
END;

CREATE TABLE review (
	run            INTEGER NOT NULL REFERENCES run (id),
	number         INTEGER NOT NULL,
	task_id        TEXT,
	reviewer_agent TEXT,
	coder_agent    TEXT,
	iteration      INTEGER,
	decision       TEXT NOT NULL,
	feedback       TEXT,
	quality_checks TEXT,
	source         TEXT,
	attempt        INTEGER,
	tree           TEXT,
	findings       TEXT,
	timestamp      INTEGER NOT NULL,
	previous_hash  TEXT,
	hash           TEXT NOT NULL,
	PRIMARY KEY (run, number)
) STRICT;

CREATE TABLE finding (
	run      INTEGER NOT NULL,
	review   INTEGER NOT NULL,
	number   INTEGER NOT NULL CHECK (number BETWEEN 0 AND 65535),
	id       TEXT NOT NULL,
	file     TEXT,
	line     INTEGER,
	severity TEXT,
	text     TEXT,
	state    TEXT NOT NULL,
	PRIMARY KEY (run, review, number),
	FOREIGN KEY (run, review) REFERENCES review (run, number)
) STRICT;

-- What a reviewer said stays said. REPLACE is caught as well: the connection has recursive_triggers on.
CREATE TRIGGER review_is_never_changed BEFORE UPDATE ON review BEGIN
	SELECT RAISE(ABORT, 'review rows are append-only');
END;

CREATE TRIGGER review_is_never_deleted BEFORE DELETE ON review BEGIN
	SELECT RAISE(ABORT, 'review rows are append-only');
END;

CREATE TRIGGER finding_is_never_changed BEFORE UPDATE ON finding BEGIN
	SELECT RAISE(ABORT, 'finding rows are append-only');
END;

CREATE TRIGGER finding_is_never_deleted BEFORE DELETE ON finding BEGIN
	SELECT RAISE(ABORT, 'finding rows are append-only');
END;

CREATE TABLE event (
	seq  INTEGER PRIMARY KEY,
	time INTEGER NOT NULL,
	type TEXT NOT NULL,
	run  INTEGER,
	body TEXT NOT NULL
) STRICT;

CREATE TABLE setting (
	name  TEXT PRIMARY KEY NOT NULL,
	value TEXT
) STRICT;
