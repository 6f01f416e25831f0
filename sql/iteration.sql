-- SPDX-License-Identifier: MIT

-- name: iteration.put
INSERT INTO iteration (run, number, state, started_at, ended_at)
VALUES (:run, :number, :state, :started_at, :ended_at)
ON CONFLICT (run, number) DO UPDATE SET
    state = excluded.state, started_at = excluded.started_at, ended_at = excluded.ended_at

-- name: iteration.unfinished rows: iteration
SELECT iteration.* FROM run CROSS JOIN iteration ON iteration.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, number

-- Pages by :after.
-- name: run.iterations rows: iteration
SELECT number AS after, * FROM iteration WHERE run = :run AND number > ifnull(:after, 0) ORDER BY number
