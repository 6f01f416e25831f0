-- SPDX-License-Identifier: MIT
-- What judges a run has a hash in its row, and each agent that is given it has the same.

PRAGMA user_version = 21;

ALTER TABLE run ADD COLUMN judge_hash TEXT;
ALTER TABLE attempt ADD COLUMN judge_hash TEXT;
