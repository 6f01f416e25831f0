-- SPDX-License-Identifier: MIT

-- name: task.put
INSERT INTO task (run, id, title, size, state, reason, locked_ref, locked_tree)
VALUES (:run, :id, :title, :size, :state, :reason, :locked_ref, :locked_tree)
ON CONFLICT (run, id) DO UPDATE SET
    title = excluded.title, size = excluded.size, state = excluded.state, reason = excluded.reason,
    locked_ref = excluded.locked_ref, locked_tree = excluded.locked_tree

-- Once only: rows of the view come without their text.
-- name: task.put-text
INSERT INTO task_text (run, id, text)
SELECT :run, :id, :text WHERE :text IS NOT NULL
ON CONFLICT (run, id) DO NOTHING

-- name: task.unfinished rows: task
SELECT task.* FROM run CROSS JOIN task ON task.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, task.rowid

-- Pages by :after.
-- name: run.tasks rows: task
SELECT rowid AS after, task.* FROM task INDEXED BY task_in_order
WHERE run = :run AND rowid > ifnull(:after, 0)
ORDER BY rowid

-- One task with its text, by :run and :id.
-- name: task.text rows: task
SELECT task.*, text FROM task JOIN task_text USING (run, id) WHERE run = :run AND id = :id

-- The first task, for lists of runs.
-- name: run.title rows: task
SELECT * FROM task INDEXED BY task_in_order WHERE run = :run ORDER BY rowid LIMIT 1
