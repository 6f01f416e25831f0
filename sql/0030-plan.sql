-- SPDX-License-Identifier: MIT
-- The settings of runs and tasks, each text once: most runs have those of another. The columns run.plan and task.plan have the
-- hash now; rows of earlier versions keep the text.

PRAGMA user_version = 30;

CREATE TABLE plan (
	hash TEXT PRIMARY KEY NOT NULL,		-- SHA-256 of the text
	text TEXT NOT NULL
) STRICT;

CREATE TRIGGER plan_is_never_changed BEFORE UPDATE ON plan BEGIN
	SELECT RAISE(ABORT, 'plan rows are append-only');
END;

CREATE TRIGGER plan_is_never_deleted BEFORE DELETE ON plan BEGIN
	SELECT RAISE(ABORT, 'plan rows are append-only');
END;
