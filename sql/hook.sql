-- SPDX-License-Identifier: MIT

-- name: hook.put
INSERT INTO hook (id, run, name, command, environment, uuid, boot_id, state, exit_code, signal, cause, started_at, ended_at)
VALUES (:id, :run, :name, :command, :environment, :uuid, :boot_id, :state, :exit_code, :signal, :cause, :started_at, :ended_at)
ON CONFLICT (id) DO UPDATE SET
    uuid = excluded.uuid, boot_id = excluded.boot_id, state = excluded.state, exit_code = excluded.exit_code,
    signal = excluded.signal, cause = excluded.cause, started_at = excluded.started_at, ended_at = excluded.ended_at

-- Of ended runs as well: a hook outlives what it tells of.
-- name: hook.unfinished rows: hook
SELECT * FROM hook INDEXED BY hook_unfinished WHERE state IN ('starting', 'running') ORDER BY id

-- What never began, because its number was taken.
-- name: hook.drop
DELETE FROM hook WHERE id = :id
