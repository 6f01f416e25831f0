-- SPDX-License-Identifier: MIT

-- name: hold.put
INSERT INTO hold (id, run, task, iteration, slot, kind, reason, attempt, state, decided_by, by_uid, by_pid, by_attempt, message, created_at, decided_at)
VALUES (:id, :run, :task, :iteration, :slot, :kind, :reason, :attempt, :state, :decided_by, :by_uid, :by_pid, :by_attempt, :message, :created_at, :decided_at)
ON CONFLICT (id) DO UPDATE SET
    state = excluded.state, decided_by = excluded.decided_by, by_uid = excluded.by_uid, by_pid = excluded.by_pid,
    by_attempt = excluded.by_attempt, message = excluded.message, decided_at = excluded.decided_at

-- name: hold.unfinished rows: hold
SELECT hold.* FROM run CROSS JOIN hold INDEXED BY hold_of_run ON hold.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, hold.id

-- name: hold.get rows: hold
SELECT * FROM hold WHERE id = :id

-- Newest first, below :before (NULL: from the top), of :run and :state (NULL: any), at most :limit.
-- name: hold.list rows: hold
SELECT * FROM hold
WHERE id < ifnull(:before, 9223372036854775807)
    AND (:run IS NULL OR run = :run) AND (:state IS NULL OR state = :state)
ORDER BY id DESC LIMIT :limit

-- Pages by :after.
-- name: run.holds rows: hold
SELECT id AS after, * FROM hold INDEXED BY hold_of_run
WHERE run = :run AND id > ifnull(:after, 0)
ORDER BY id
