-- SPDX-License-Identifier: MIT
-- Agents and money: accounts and their cooldowns, what was spent, back-off of a slot, what an attempt was refused and went on from.

PRAGMA user_version = 4;

ALTER TABLE slot ADD COLUMN retries INTEGER;
ALTER TABLE slot ADD COLUMN retry_at INTEGER;
ALTER TABLE slot ADD COLUMN cooling TEXT;

UPDATE slot SET retries = 0;

ALTER TABLE attempt ADD COLUMN account TEXT;
ALTER TABLE attempt ADD COLUMN resumes INTEGER;
ALTER TABLE attempt ADD COLUMN denials INTEGER;
ALTER TABLE attempt ADD COLUMN tool_errors INTEGER;
ALTER TABLE attempt ADD COLUMN says_no_change INTEGER;
ALTER TABLE attempt ADD COLUMN reserved_usd REAL;
ALTER TABLE attempt ADD COLUMN reserved_tokens INTEGER;

-- One row an account: the last time that it was exhausted. In force until its time has come.
CREATE TABLE cooldown (
	account    TEXT PRIMARY KEY NOT NULL,
	kind       TEXT NOT NULL,
	until      INTEGER NOT NULL,
	reason     TEXT,
	attempt    INTEGER,
	set_by     TEXT,
	created_at INTEGER NOT NULL
) STRICT;

-- What the attempts of an account that ended on a day (of UTC, counted from 1970-01-01) have cost.
CREATE TABLE spend (
	account  TEXT NOT NULL,
	day      INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	cost_usd REAL NOT NULL,
	tokens   INTEGER NOT NULL,
	wall_ms  INTEGER NOT NULL,
	PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;
