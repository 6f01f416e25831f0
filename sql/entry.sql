-- SPDX-License-Identifier: MIT
-- Inserts only, as in review.sql.

-- name: entry.put
INSERT INTO entry (run, number, kind, key, row_hash, created_at, previous_hash, hash)
VALUES (:run, :number, :kind, :key, :row_hash, :created_at, :previous_hash, :hash)

-- name: entry.unfinished rows: entry
SELECT entry.* FROM run CROSS JOIN entry ON entry.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, number

-- Pages by :after. Also numbers below 1, as in run.reviews.
-- name: run.entries rows: entry
SELECT number AS after, * FROM entry
WHERE run = :run AND number >= ifnull(:after + 1, -9223372036854775808)
ORDER BY number
