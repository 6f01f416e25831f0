-- SPDX-License-Identifier: MIT
-- The outer loop: task sources and claims, work trees and what they leave behind, groups, pause and order of runs.

PRAGMA user_version = 3;

ALTER TABLE run ADD COLUMN source_path TEXT;
ALTER TABLE run ADD COLUMN project TEXT;
ALTER TABLE run ADD COLUMN "group" TEXT;
ALTER TABLE run ADD COLUMN after_run INTEGER;
ALTER TABLE run ADD COLUMN paused INTEGER;
ALTER TABLE run ADD COLUMN next_at INTEGER;
ALTER TABLE run ADD COLUMN base_commit TEXT;
ALTER TABLE run ADD COLUMN result_branch TEXT;
ALTER TABLE run ADD COLUMN stopped INTEGER;

UPDATE run SET "group" = 'default', paused = 0, stopped = 0;

ALTER TABLE task ADD COLUMN position INTEGER;
ALTER TABLE task ADD COLUMN priority INTEGER;
ALTER TABLE task ADD COLUMN status TEXT;
ALTER TABLE task ADD COLUMN acceptance TEXT;
ALTER TABLE task ADD COLUMN depends_on TEXT;
ALTER TABLE task ADD COLUMN plan TEXT;
ALTER TABLE task ADD COLUMN disk_bytes INTEGER;

UPDATE task SET position = (SELECT count(*) FROM task AS other WHERE other.run = task.run AND other.rowid <= task.rowid);

-- Tasks of a run in the order in which they are offered; of one place: in which they came.
DROP INDEX task_in_order;
CREATE INDEX task_in_order ON task (run, ifnull(position, 0));

ALTER TABLE slot ADD COLUMN leaving TEXT NOT NULL DEFAULT 'nothing';
ALTER TABLE slot ADD COLUMN worktree TEXT;
ALTER TABLE slot ADD COLUMN branch TEXT;
ALTER TABLE slot ADD COLUMN base_commit TEXT;
ALTER TABLE slot ADD COLUMN base_tree TEXT;
ALTER TABLE slot ADD COLUMN commit_id TEXT;
ALTER TABLE slot ADD COLUMN obstacle TEXT;

ALTER TABLE step ADD COLUMN iteration INTEGER;

-- Until now a run had one iteration.
UPDATE step SET iteration = 1 WHERE slot IS NOT NULL;

-- The key is the claim: no two runs work on one task of a source.
CREATE TABLE claim (
	source TEXT NOT NULL,
	task   TEXT NOT NULL,
	run    INTEGER NOT NULL REFERENCES run (id),
	state  TEXT NOT NULL,
	at     INTEGER NOT NULL,
	PRIMARY KEY (source, task)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_in_force ON claim (source, task) WHERE state IN ('held', 'done');

-- A claim that is held is given back by its own run before another gets it.
CREATE TRIGGER claim_is_never_stolen BEFORE UPDATE ON claim
WHEN OLD.state = 'held' AND NEW.run IS NOT OLD.run
	AND EXISTS (SELECT 1 FROM run WHERE id = OLD.run AND state NOT IN ('succeeded', 'failed', 'cancelled')) BEGIN
	SELECT RAISE(ABORT, 'another run works on this task');
END;

CREATE TABLE salvage (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	run        INTEGER NOT NULL REFERENCES run (id),
	task       TEXT,
	workspace  TEXT NOT NULL,
	ref        TEXT NOT NULL,
	commit_id  TEXT NOT NULL,
	path       TEXT,
	created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX salvage_of_run ON salvage (run, id);

-- Salvage has its ids from the counter of attempts, steps and hooks.
CREATE TRIGGER salvage_id_is_no_other BEFORE INSERT ON salvage
WHEN EXISTS (SELECT 1 FROM attempt WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM step WHERE id = NEW.id)
	OR EXISTS (SELECT 1 FROM hook WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'an attempt, a step or a hook has this id');
END;

CREATE TRIGGER attempt_id_is_no_salvage BEFORE INSERT ON attempt WHEN EXISTS (SELECT 1 FROM salvage WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'a salvage has this id');
END;

CREATE TRIGGER step_id_is_no_salvage BEFORE INSERT ON step WHEN EXISTS (SELECT 1 FROM salvage WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'a salvage has this id');
END;

CREATE TRIGGER hook_id_is_no_salvage BEFORE INSERT ON hook WHEN EXISTS (SELECT 1 FROM salvage WHERE id = NEW.id) BEGIN
	SELECT RAISE(ABORT, 'a salvage has this id');
END;

CREATE TABLE "group" (
	name   TEXT PRIMARY KEY NOT NULL,
	slots  INTEGER,
	paused INTEGER NOT NULL
) STRICT;
