-- SPDX-License-Identifier: MIT

-- name: step.put
INSERT INTO step (id, run, iteration, slot, name, uuid, boot_id, state, exit_code, signal, cause, started_at, ended_at)
VALUES (:id, :run, :iteration, :slot, :name, :uuid, :boot_id, :state, :exit_code, :signal, :cause, :started_at, :ended_at)
ON CONFLICT (id) DO UPDATE SET
    run = excluded.run, iteration = excluded.iteration, slot = excluded.slot, name = excluded.name, uuid = excluded.uuid, boot_id = excluded.boot_id,
    state = excluded.state, exit_code = excluded.exit_code, signal = excluded.signal, cause = excluded.cause,
    started_at = excluded.started_at, ended_at = excluded.ended_at

-- The unfinished steps of the unfinished runs.
-- name: step.unfinished rows: step
SELECT step.* FROM run CROSS JOIN step INDEXED BY step_unfinished ON step.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled') AND step.state IN ('starting', 'running')
ORDER BY run.id, step.id

-- The newest step of a slot before :before that has measured its work. Walks back from there, by id.
-- name: step.measured rows: step
SELECT * FROM step
WHERE id < :before AND run = :run AND iteration = :iteration AND slot = :slot AND name = 'measure'
    AND state = 'exited' AND exit_code = 0
ORDER BY id DESC LIMIT 1

-- What never began, because its number was taken.
-- name: step.drop
DELETE FROM step WHERE id = :id
