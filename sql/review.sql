-- SPDX-License-Identifier: MIT
-- Inserts only: what stands is never written again.

-- name: review.put
INSERT INTO review (run, number, task_id, reviewer_agent, reviewer, votes, coder_agent, iteration, decision, feedback, quality_checks, source,
    attempt, from_run, from_review, tree, findings, timestamp, previous_hash, hash)
VALUES (:run, :number, :task_id, :reviewer_agent, :reviewer, :votes, :coder_agent, :iteration, :decision, :feedback, :quality_checks, :source,
    :attempt, :from_run, :from_review, :tree, :findings, :timestamp, :previous_hash, :hash)

-- name: review.unfinished rows: review
SELECT review.* FROM run CROSS JOIN review ON review.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, number

-- Pages by :after. Also what only a stranger could have written, with a number below 1: the check of the chain is to see it.
-- name: run.reviews rows: review
SELECT number AS after, * FROM review
WHERE run = :run AND number >= ifnull(:after + 1, -9223372036854775808)
ORDER BY number

-- name: finding.put
INSERT INTO finding (run, review, number, id, file, line, severity, text, reviewers, state)
VALUES (:run, :review, :number, :id, :file, :line, :severity, :text, :reviewers, :state)

-- name: finding.unfinished rows: finding
SELECT finding.* FROM run CROSS JOIN finding ON finding.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, review, number

-- Pages by :after, which holds review and number.
-- name: run.findings rows: finding
SELECT review << 16 | number AS after, * FROM finding
WHERE run = :run AND (review, number) >= (ifnull(:after + 1, -9223372036854775808) >> 16, ifnull(:after + 1, -9223372036854775808) & 65535)
ORDER BY review, number
