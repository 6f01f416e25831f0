-- SPDX-License-Identifier: MIT
-- Inserts only, as in review.sql.

-- name: evidence.put
INSERT INTO evidence (run, number, product, task_id, kind, subject, tree, room, setup_hash, env_hash, attempt, review, exit_code,
    output_hash, result, from_run, from_attempt, policy_hash, submitter, daemon, by_uid, by_pid, by_attempt,
    created_at, previous_hash, hash)
VALUES (:run, :number, :product, :task_id, :kind, :subject, :tree, :room, :setup_hash, :env_hash, :attempt, :review, :exit_code,
    :output_hash, :result, :from_run, :from_attempt, :policy_hash, :submitter, :daemon, :by_uid, :by_pid, :by_attempt,
    :created_at, :previous_hash, :hash)

-- name: evidence.unfinished rows: evidence
SELECT evidence.* FROM run CROSS JOIN evidence ON evidence.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, number

-- Pages by :after. Also numbers below 1, as in run.reviews.
-- name: run.evidence rows: evidence
SELECT number AS after, * FROM evidence
WHERE run = :run AND number >= ifnull(:after + 1, -9223372036854775808)
ORDER BY number

-- Checks of other runs on :tree, newest first: of runs that :run retries, and since :created_at. Only those of the same
-- evidence repository, none of a pruned run, and none that did not run itself, or that the shell could not start: what was
-- missing may be there now.
-- name: evidence.of_tree rows: evidence
WITH RECURSIVE family (id, earlier) AS (
    SELECT id, retry_of FROM run WHERE id = :run
    UNION SELECT run.id, run.retry_of FROM family JOIN run ON run.id = family.earlier)
SELECT e.kind, e.subject, e.tree, e.room, e.setup_hash, e.env_hash, e.result, e.created_at, e.attempt, e.run AS from_run,
    attempt.number AS from_attempt
FROM evidence AS e INDEXED BY evidence_of_tree JOIN attempt ON attempt.id = e.attempt JOIN run ON run.id = e.run
WHERE e.tree = :tree AND e.kind = 'check' AND e.run <> :run
    AND run.evidence = (SELECT own.evidence FROM run AS own WHERE own.id = :run)
    AND ifnull(e.exit_code, 0) NOT IN (126, 127) AND run.pruned_at IS NULL
    AND (e.created_at >= :created_at OR e.run IN (SELECT id FROM family))
ORDER BY e.created_at DESC, e.run DESC, e.number DESC LIMIT 64
