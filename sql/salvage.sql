-- SPDX-License-Identifier: MIT

-- name: salvage.put
INSERT INTO salvage (id, run, task, workspace, ref, commit_id, path, created_at)
VALUES (:id, :run, :task, :workspace, :ref, :commit_id, :path, :created_at)
ON CONFLICT (id) DO UPDATE SET
    run = excluded.run, task = excluded.task, workspace = excluded.workspace, ref = excluded.ref, commit_id = excluded.commit_id,
    path = excluded.path, created_at = excluded.created_at

-- name: salvage.get rows: salvage
SELECT * FROM salvage WHERE id = :id

-- Newest first, below :before (NULL: from the top), of :run (NULL: any), at most :limit. Two arms of which one runs.
-- name: salvage.list rows: salvage
SELECT * FROM salvage
WHERE :run IS NULL AND id < ifnull(:before, 9223372036854775807)
UNION ALL
SELECT * FROM salvage INDEXED BY salvage_of_run
WHERE :run IS NOT NULL AND run = :run AND id < ifnull(:before, 9223372036854775807)
ORDER BY id DESC LIMIT :limit
