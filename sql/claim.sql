-- SPDX-License-Identifier: MIT

-- name: claim.put
INSERT INTO claim (source, task, run, state, at)
VALUES (:source, :task, :run, :state, :at)
ON CONFLICT (source, task) DO UPDATE SET run = excluded.run, state = excluded.state, at = excluded.at

-- Those that keep others off, whatever has become of their run.
-- name: claim.all rows: claim
SELECT * FROM claim INDEXED BY claim_in_force WHERE state IN ('held', 'done') ORDER BY source, task
