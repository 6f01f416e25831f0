-- SPDX-License-Identifier: MIT
-- What is kept of a run: the bytes of its directories, NULL: not measured yet; and when prune has removed them, NULL: it has
-- not. Neither is part of the record of the run: the row of the table pruned is.

PRAGMA user_version = 28;

ALTER TABLE run ADD COLUMN bytes INTEGER;
ALTER TABLE run ADD COLUMN pruned_at INTEGER;
CREATE INDEX run_by_bytes ON run (bytes);

-- done: 1: the directories and refs are gone. NULL: the daemon died before, and removes them at its next start.
CREATE TABLE pruned (
	run       INTEGER PRIMARY KEY NOT NULL REFERENCES run (id),
	pruned_at INTEGER NOT NULL,
	why       TEXT NOT NULL,
	by_uid    INTEGER,
	bytes     INTEGER,
	done      INTEGER
) STRICT;

CREATE INDEX pruned_undone ON pruned (run) WHERE done IS NULL;

CREATE TRIGGER pruned_is_never_changed BEFORE UPDATE ON pruned
WHEN NEW.run IS NOT OLD.run OR NEW.pruned_at IS NOT OLD.pruned_at OR NEW.why IS NOT OLD.why
	OR NEW.by_uid IS NOT OLD.by_uid OR NEW.bytes IS NOT OLD.bytes OR (OLD.done IS NOT NULL AND NEW.done IS NOT OLD.done) BEGIN
	SELECT RAISE(ABORT, 'pruned rows are append-only');
END;

CREATE TRIGGER pruned_is_never_deleted BEFORE DELETE ON pruned BEGIN
	SELECT RAISE(ABORT, 'pruned rows are append-only');
END;

-- To find the directories of a run.
CREATE INDEX step_of_run ON step (run);
CREATE INDEX hook_of_run ON hook (run);
