-- SPDX-License-Identifier: MIT
-- How the one connection is set up. "-- once: N": run at open, by name, and not kept.

-- once: connection.setup
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA recursive_triggers = ON;
PRAGMA trusted_schema = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -1024;
PRAGMA mmap_size = 0;
PRAGMA journal_size_limit = 8388608;

-- Version of the schema, whose file it is, whether there is anything in it.
-- once: connection.identity
SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version, pragma_application_id

-- once: connection.check
PRAGMA quick_check(1)

-- once: connection.check_all
PRAGMA integrity_check(1)

-- Only after locking_mode = EXCLUSIVE: then there is no file of shared memory, and nobody else gets in.
-- once: connection.journal
PRAGMA journal_mode = WAL

-- Of a copy, which gets its name when it is on the disk: no journal, and one fsync at the end.
-- once: connection.copy
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;

-- once: migration.begin
BEGIN IMMEDIATE

-- once: migration.commit
COMMIT

-- once: migration.rollback
ROLLBACK

-- name: transaction.begin
BEGIN IMMEDIATE

-- name: transaction.commit
COMMIT

-- name: transaction.rollback
ROLLBACK
