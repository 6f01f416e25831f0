-- SPDX-License-Identifier: MIT
-- What five review profiles need: holds for a human, hooks, known issues, the locked artifact, further working columns of a slot.

PRAGMA user_version = 2;

ALTER TABLE run ADD COLUMN subdir TEXT;
ALTER TABLE run ADD COLUMN result_commit TEXT;
ALTER TABLE run ADD COLUMN known_issues TEXT;

ALTER TABLE task ADD COLUMN locked_ref TEXT;
ALTER TABLE task ADD COLUMN locked_tree TEXT;

ALTER TABLE slot ADD COLUMN fixes INTEGER;
ALTER TABLE slot ADD COLUMN "check" INTEGER;
ALTER TABLE slot ADD COLUMN failed_check INTEGER;
ALTER TABLE slot ADD COLUMN item INTEGER;
ALTER TABLE slot ADD COLUMN message TEXT;

-- Slots of runs that are under way keep the rounds they were given.
UPDATE slot SET "check" = 0, item = 0,
	fixes = (SELECT json_extract(run.plan, '$.max_fixes') FROM run WHERE run.id = slot.run);

ALTER TABLE attempt ADD COLUMN sandbox TEXT;

-- A passed artifact stays what was reviewed.
CREATE TRIGGER attempt_after_lock BEFORE INSERT ON attempt
WHEN EXISTS (SELECT 1 FROM task WHERE run = NEW.run AND id = NEW.task AND locked_tree IS NOT NULL)
	AND NOT EXISTS (SELECT 1 FROM attempt WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'the task has passed its review and is locked');
END;

CREATE TRIGGER attempt_moved_after_lock BEFORE UPDATE ON attempt
WHEN NEW.task IS NOT OLD.task
	AND EXISTS (SELECT 1 FROM task WHERE run = NEW.run AND id = NEW.task AND locked_tree IS NOT NULL) BEGIN
	SELECT RAISE(ABORT, 'the task has passed its review and is locked');
END;

CREATE TRIGGER task_lock_is_never_changed BEFORE UPDATE ON task
WHEN OLD.locked_tree IS NOT NULL AND (NEW.locked_tree IS NOT OLD.locked_tree OR NEW.locked_ref IS NOT OLD.locked_ref) BEGIN
	SELECT RAISE(ABORT, 'the task has passed its review and is locked');
END;

-- REPLACE deletes as well: recursive_triggers is on.
CREATE TRIGGER task_lock_is_never_deleted BEFORE DELETE ON task
WHEN OLD.locked_tree IS NOT NULL
	AND EXISTS (SELECT 1 FROM run WHERE id = OLD.run AND state NOT IN ('succeeded', 'failed', 'cancelled')) BEGIN
	SELECT RAISE(ABORT, 'the task has passed its review and is locked');
END;

CREATE TABLE hold (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	run        INTEGER NOT NULL REFERENCES run (id),
	task       TEXT NOT NULL,
	iteration  INTEGER NOT NULL,
	slot       INTEGER NOT NULL,
	kind       TEXT NOT NULL,
	reason     TEXT,
	attempt    INTEGER,
	state      TEXT NOT NULL,
	decided_by TEXT,
	message    TEXT,
	created_at INTEGER NOT NULL,
	decided_at INTEGER
) STRICT;

CREATE INDEX hold_of_run ON hold (run, id);
-- One question at a time about a task.
CREATE UNIQUE INDEX hold_open ON hold (run, task) WHERE state IN ('open', 'rework');

CREATE TABLE hook (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	run         INTEGER NOT NULL REFERENCES run (id),
	name        TEXT NOT NULL,
	command     TEXT NOT NULL,
	environment TEXT NOT NULL,
	uuid        TEXT NOT NULL UNIQUE,
	boot_id     TEXT,
	state       TEXT NOT NULL,
	exit_code   INTEGER,
	signal      INTEGER,
	cause       TEXT,
	started_at  INTEGER,
	ended_at    INTEGER
) STRICT;

CREATE INDEX hook_unfinished ON hook (id) WHERE state IN ('starting', 'running');

-- Hooks share the counter and the folder of attempts and steps.
CREATE TRIGGER hook_id_is_no_other BEFORE INSERT ON hook
WHEN EXISTS (SELECT 1 FROM attempt WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM step WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'an attempt or a step has this id');
END;

CREATE TRIGGER attempt_id_is_no_hook BEFORE INSERT ON attempt WHEN EXISTS (SELECT 1 FROM hook WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'a hook has this id');
END;

CREATE TRIGGER step_id_is_no_hook BEFORE INSERT ON step WHEN EXISTS (SELECT 1 FROM hook WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'a hook has this id');
END;
