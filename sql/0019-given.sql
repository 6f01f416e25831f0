-- SPDX-License-Identifier: MIT
-- What agents are given is compared with what was recorded of it before: the text of the task, and the diff as it was
-- measured.

PRAGMA user_version = 19;

ALTER TABLE task ADD COLUMN text_hash TEXT;
ALTER TABLE attempt ADD COLUMN task_hash TEXT;
ALTER TABLE attempt ADD COLUMN diff INTEGER;
ALTER TABLE slot ADD COLUMN diff_hash TEXT;
ALTER TABLE product ADD COLUMN diff INTEGER;
ALTER TABLE product ADD COLUMN diff_hash TEXT;
