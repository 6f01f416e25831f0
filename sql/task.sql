-- SPDX-License-Identifier: MIT

-- name: task.put
INSERT INTO task (run, id, title, size, position, priority, status, acceptance, depends_on, plan, state, reason, disk_bytes,
    locked_ref, locked_tree, end_kind, continues, start, text_hash)
VALUES (:run, :id, :title, :size, :position, :priority, :status, :acceptance, :depends_on, :plan, :state, :reason, :disk_bytes,
    :locked_ref, :locked_tree, :end_kind, :continues, :start, :text_hash)
ON CONFLICT (run, id) DO UPDATE SET
    title = excluded.title, size = excluded.size, position = excluded.position, priority = excluded.priority,
    status = excluded.status, acceptance = excluded.acceptance, depends_on = excluded.depends_on, plan = excluded.plan,
    state = excluded.state, reason = excluded.reason, disk_bytes = excluded.disk_bytes,
    locked_ref = excluded.locked_ref, locked_tree = excluded.locked_tree, end_kind = excluded.end_kind,
    continues = excluded.continues, start = excluded.start,
    text_hash = excluded.text_hash

-- Once only: rows of the view come without their text.
-- name: task.put-text
INSERT INTO task_text (run, id, text)
SELECT :run, :id, :text WHERE :text IS NOT NULL
ON CONFLICT (run, id) DO NOTHING

-- name: task.unfinished rows: task
SELECT task.* FROM run CROSS JOIN task INDEXED BY task_in_order ON task.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, ifnull(task.position, 0), task.rowid

-- Pages by :after, which holds position and rowid.
-- name: run.tasks rows: task
SELECT ifnull(position, 0) << 40 | rowid AS after, task.* FROM task INDEXED BY task_in_order
WHERE run = :run AND ifnull(position, 0) >= ifnull(:after, 0) >> 40
    AND (ifnull(position, 0), rowid) > (ifnull(:after, 0) >> 40, ifnull(:after, 0) & 1099511627775)
ORDER BY ifnull(position, 0), rowid

-- One task with its text, by :run and :id.
-- name: task.text rows: task
SELECT task.*, text FROM task JOIN task_text USING (run, id) WHERE run = :run AND id = :id

-- For lists of runs: the first task in each state, with the number of those in size, and its place in the order in
-- position.
-- name: run.outline rows: task
SELECT run, task.id, title, state, min(ifnull(position, 0) << 40 | task.rowid) AS position, count(*) AS size
FROM json_each(:runs) AS wanted CROSS JOIN task INDEXED BY task_in_order ON task.run = wanted.value GROUP BY run, state

-- The first task that ended as the run did, of each run.
-- name: run.blamed rows: task
SELECT task.run, task.id, task.reason, min(ifnull(task.position, 0) << 40 | task.rowid) AS position
FROM json_each(:runs) AS wanted CROSS JOIN run ON run.id = wanted.value
    CROSS JOIN task INDEXED BY task_in_order ON task.run = run.id
WHERE task.state IN ('failed', 'passed') AND task.end_kind = run.end_kind AND task.reason IS NOT NULL
GROUP BY task.run
