-- SPDX-License-Identifier: MIT
-- The stage in which git makes the work tree of a task says so.

PRAGMA user_version = 8;

UPDATE slot SET stage = 'creating-worktree' WHERE stage = 'laying';
