-- SPDX-License-Identifier: MIT
-- Retries that continue with the phase that failed.

PRAGMA user_version = 14;

-- JSON: what the run takes over of the one that it retries; of a task, the work on it.
ALTER TABLE run ADD COLUMN start TEXT;
ALTER TABLE task ADD COLUMN start TEXT;
-- The run whose work on the task it continues.
ALTER TABLE task ADD COLUMN continues INTEGER;
-- The attempt of an earlier run whose final text is the answer under review.
ALTER TABLE slot ADD COLUMN earlier_answer INTEGER;
-- 1: the verdicts of that run do not count.
ALTER TABLE slot ADD COLUMN again INTEGER;
-- Taken over from this run, where it has this number.
ALTER TABLE review ADD COLUMN from_run INTEGER;
ALTER TABLE review ADD COLUMN from_review INTEGER;
ALTER TABLE product ADD COLUMN from_run INTEGER;
ALTER TABLE product ADD COLUMN from_product INTEGER;
