-- SPDX-License-Identifier: MIT
-- Runs of which prune has removed what is not the record.

-- name: pruned.put
INSERT INTO pruned (run, pruned_at, why, by_uid, bytes, done)
VALUES (:run, :pruned_at, :why, :by_uid, :bytes, :done)
ON CONFLICT (run) DO UPDATE SET done = excluded.done WHERE done IS NULL

-- Once the directories are gone, nothing is found by these any more.
-- name: pruned.put-steps
DELETE FROM step WHERE run = :run AND :done = 1

-- name: pruned.put-hooks
DELETE FROM hook WHERE run = :run AND :done = 1

-- Its refs are gone.
-- name: pruned.put-salvage
DELETE FROM salvage WHERE run = :run AND :done = 1

-- name: run.pruned rows: pruned
SELECT * FROM pruned WHERE run = :run

-- Marked, but not removed.
-- name: pruned.undone rows: pruned
SELECT * FROM pruned INDEXED BY pruned_undone WHERE done IS NULL ORDER BY run

-- What prune decides by, of each run that is not pruned; pages by :after. In warned the number of its hooks that are running.
-- name: prune.runs rows: run
SELECT id AS after, id, state, created_at, ended_at, retry_of, after_run, workspace, has_git, instance, evidence,
    result_branch, result_commit, bytes,
    (SELECT count(*) FROM hook INDEXED BY hook_unfinished WHERE hook.run = run.id AND hook.state IN ('starting', 'running')) AS warned
FROM run WHERE pruned_at IS NULL AND id > ifnull(:after, 0)
ORDER BY id

-- One run, whole.
-- name: prune.run rows: run
SELECT * FROM run WHERE id = :run

-- Branches and commits of the slots of :run. Pages by :after, which holds iteration and slot. Commits of one that did not pass
-- count unless its task has passed later: in another slot, or in a retry that succeeded.
-- name: prune.slots rows: slot
WITH RECURSIVE heir (id, state) AS (
    SELECT id, state FROM run WHERE id > :run AND retry_of = :run
    UNION SELECT run.id, run.state FROM heir CROSS JOIN run ON run.id > heir.id AND run.retry_of = heir.id)
SELECT iteration << 16 | slot AS after, iteration, slot, stage, branch, commit_id, own_commit FROM slot
WHERE run = :run AND (iteration, slot) > (ifnull(:after, 0) >> 16, ifnull(:after, 0) & 65535)
    AND (branch IS NOT NULL OR stage = 'passed' AND commit_id IS NOT NULL
        OR (commit_id IS NOT NULL OR own_commit IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM slot AS later WHERE later.run = :run AND later.task IS slot.task AND later.stage = 'passed')
            AND NOT EXISTS (SELECT 1 FROM heir WHERE state = 'succeeded'))
ORDER BY iteration, slot

-- What was saved of the work trees of :run. Pages by :after.
-- name: prune.salvage rows: salvage
SELECT id AS after, id, commit_id FROM salvage INDEXED BY salvage_of_run
WHERE run = :run AND id > ifnull(:after, 0) ORDER BY id

-- Ids of the directories in attempts/ of :run, as steps. Pages by :after.
-- name: prune.directories rows: step
SELECT id AS after, id FROM (
    SELECT id FROM attempt WHERE run = :run
    UNION ALL SELECT id FROM step INDEXED BY step_of_run WHERE run = :run
    UNION ALL SELECT id FROM hook INDEXED BY hook_of_run WHERE run = :run)
WHERE id > ifnull(:after, 0) ORDER BY id

-- Ended runs of which it is not known how much is kept, and the sum of what is: in id their number.
-- name: prune.unmeasured rows: run
SELECT id FROM run INDEXED BY run_by_bytes
WHERE bytes IS NULL AND pruned_at IS NULL AND state IN ('succeeded', 'failed', 'cancelled') LIMIT 256

-- name: prune.total rows: run
SELECT count(*) AS id, sum(bytes) AS bytes FROM run INDEXED BY run_by_bytes WHERE bytes > 0

-- What doctor compares with the disk. The repositories of runs; pages by :after.
-- name: compare.repositories rows: run
SELECT max(id) AS after, workspace FROM run WHERE has_git = 1 AND workspace IS NOT NULL
GROUP BY workspace HAVING max(id) > ifnull(:after, 0) ORDER BY 1

-- All runs; pages by :after.
-- name: compare.runs rows: run
SELECT id AS after, id, state, instance, ended_at, pruned_at FROM run WHERE id > ifnull(:after, 0) ORDER BY id

-- All numbers of attempts, steps, hooks and salvage, as steps; pages by :after.
-- name: compare.numbers rows: step
SELECT id AS after, id FROM (
    SELECT id FROM attempt UNION ALL SELECT id FROM step UNION ALL SELECT id FROM hook UNION ALL SELECT id FROM salvage)
WHERE id > ifnull(:after, 0) ORDER BY id

-- Attempts whose directories must be there; pages by :after.
-- name: compare.attempts rows: attempt
SELECT attempt.id AS after, attempt.id, run, number FROM attempt JOIN run ON run.id = attempt.run
WHERE attempt.id > ifnull(:after, 0) AND attempt.state = 'exited' AND attempt.started_at IS NOT NULL
    AND run.pruned_at IS NULL
ORDER BY attempt.id
