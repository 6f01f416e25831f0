-- SPDX-License-Identifier: MIT
-- Named statements, kept prepared. "-- name: N" begins one; "rows: R" behind it says which row type of core/row.h its
-- columns fill. "N.put" and "N.put-*" write a row of type N. Each parameter and column is a field of the row.
-- Paged statements take :after (NULL or 0 for the first page) and give the column "after": what to bind for the next.

-- name: run.put
INSERT INTO run (id, owner, key, body_hash, workdir, workspace, has_git, source, state, reason, cause, priority, iteration,
    iterations, plan, environment, base_tree, result_ref, result_tree, result_attempt, review_count, review_head, warnings,
    retry_of, created_at, started_at, ended_at, result_commit, known_issues, subdir,
    source_path, project, "group", after_run, paused, next_at, base_commit, result_branch, stopped, others, instance, head, head_at, feature,
    wait, wait_reason, wait_since, wait_until, wait_kind, end_kind, warned,
    product_count, product_head, evidence_count, evidence_head, evidence, settings_kept, entry_count, entry_head, start,
    judge_hash, dismissed, labels, disputed, bytes, pruned_at)
VALUES (:id, :owner, :key, :body_hash, :workdir, :workspace, :has_git, :source, :state, :reason, :cause, :priority, :iteration,
    :iterations, :plan, :environment, :base_tree, :result_ref, :result_tree, :result_attempt, :review_count, :review_head,
    :warnings, :retry_of, :created_at, :started_at, :ended_at, :result_commit, :known_issues, :subdir,
    :source_path, :project, :group, :after_run, :paused, :next_at, :base_commit, :result_branch, :stopped, :others, :instance, :head, :head_at, :feature,
    :wait, :wait_reason, :wait_since, :wait_until, :wait_kind, :end_kind, :warned,
    :product_count, :product_head, :evidence_count, :evidence_head, :evidence, :settings_kept, :entry_count, :entry_head, :start,
    :judge_hash, :dismissed, :labels, :disputed, :bytes, :pruned_at)
ON CONFLICT (id) DO UPDATE SET
    owner = excluded.owner, key = excluded.key, body_hash = excluded.body_hash, workdir = excluded.workdir,
    workspace = excluded.workspace, has_git = excluded.has_git, source = excluded.source, state = excluded.state,
    reason = excluded.reason, cause = excluded.cause, priority = excluded.priority, iteration = excluded.iteration,
    iterations = excluded.iterations, plan = excluded.plan, environment = excluded.environment,
    base_tree = excluded.base_tree, result_ref = excluded.result_ref, result_tree = excluded.result_tree,
    result_attempt = excluded.result_attempt, review_count = excluded.review_count, review_head = excluded.review_head,
    warnings = excluded.warnings, retry_of = excluded.retry_of, created_at = excluded.created_at,
    started_at = excluded.started_at, ended_at = excluded.ended_at, result_commit = excluded.result_commit,
    known_issues = excluded.known_issues, subdir = excluded.subdir, source_path = excluded.source_path,
    project = excluded.project, "group" = excluded."group", after_run = excluded.after_run, paused = excluded.paused,
    next_at = excluded.next_at, base_commit = excluded.base_commit, result_branch = excluded.result_branch,
    stopped = excluded.stopped, others = excluded.others, instance = excluded.instance, head = excluded.head, head_at = excluded.head_at, feature = excluded.feature,
    wait = excluded.wait, wait_reason = excluded.wait_reason, wait_since = excluded.wait_since, wait_until = excluded.wait_until,
    wait_kind = excluded.wait_kind, end_kind = excluded.end_kind, warned = excluded.warned,
    product_count = excluded.product_count, product_head = excluded.product_head,
    evidence_count = excluded.evidence_count, evidence_head = excluded.evidence_head,
    evidence = excluded.evidence, settings_kept = excluded.settings_kept,
    entry_count = excluded.entry_count, entry_head = excluded.entry_head, start = excluded.start,
    judge_hash = excluded.judge_hash, dismissed = excluded.dismissed, labels = excluded.labels,
    disputed = excluded.disputed, bytes = excluded.bytes, pruned_at = excluded.pruned_at

-- name: run.unfinished rows: run
SELECT * FROM run WHERE state NOT IN ('succeeded', 'failed', 'cancelled') ORDER BY id

-- name: run.get rows: run
SELECT * FROM run WHERE id = :id

-- name: run.by_key rows: run
SELECT * FROM run WHERE owner = :owner AND key = :key

-- Newest first, below :before (NULL: from the top), of :state and :owner (NULL: any), at most :limit.
-- Four arms of which one runs, so that each walks an index of its own. Then :workdir, a directory and what is below it, :group, and :text,
-- a part of the title of a task, :labels, an object of those that it must have, :source, and :since, when it was made; NULL: any.
-- name: run.list rows: run
SELECT * FROM (
    SELECT * FROM run
    WHERE :state IS NULL AND :owner IS NULL
	AND id < ifnull(:before, 9223372036854775807)
    UNION ALL
    SELECT * FROM run INDEXED BY run_by_state
    WHERE :state IS NOT NULL AND :owner IS NULL
	AND state = :state AND id < ifnull(:before, 9223372036854775807)
    UNION ALL
    SELECT * FROM run INDEXED BY run_by_owner
    WHERE :state IS NULL AND :owner IS NOT NULL
	AND owner = :owner AND id < ifnull(:before, 9223372036854775807)
    UNION ALL
    SELECT * FROM run INDEXED BY run_by_owner_state
    WHERE :state IS NOT NULL AND :owner IS NOT NULL
	AND owner = :owner AND state = :state AND id < ifnull(:before, 9223372036854775807)
) AS listed
WHERE (:workdir IS NULL OR substr(workdir || '/', 1, length(rtrim(:workdir, '/')) + 1) = rtrim(:workdir, '/') || '/')
    AND (:group IS NULL OR "group" = :group) AND (:source IS NULL OR source = :source)
    AND (:since IS NULL OR created_at >= :since)
    AND (:labels IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(:labels) AS wanted WHERE NOT EXISTS (
	SELECT 1 FROM json_each(listed.labels) AS had WHERE had.key = wanted.key AND had.value = wanted.value)))
    AND (:text IS NULL OR EXISTS (SELECT 1 FROM task WHERE task.run = listed.id AND instr(lower(title), lower(:text)) > 0))
ORDER BY id DESC LIMIT :limit

-- What the newest runs have passed, and committed: at most 100 results, of runs that end, or ended in the hour before the last end. As salvage
-- rows: where each lies, which object it is, and the ref that keeps it, NULL: another's.
-- name: run.results rows: salvage
WITH recent AS (SELECT * FROM run ORDER BY id DESC LIMIT 100),
    late AS (SELECT * FROM recent WHERE has_git = 1
	AND (ended_at IS NULL OR ended_at >= (SELECT max(ended_at) FROM recent) - 3600000))
SELECT late.id AS run, task.id AS task, workspace, locked_ref AS ref, locked_tree AS commit_id FROM late JOIN task ON task.run = late.id
WHERE locked_ref IS NOT NULL
UNION ALL
SELECT id, NULL, workspace, result_ref, result_tree FROM late
WHERE result_ref IS NOT NULL AND NOT EXISTS (SELECT 1 FROM task WHERE task.run = late.id AND locked_ref = result_ref)
UNION ALL
SELECT id, NULL, workspace, 'refs/heads/' || result_branch, result_commit FROM late WHERE result_commit IS NOT NULL
ORDER BY 1 DESC LIMIT 100

-- The highest ids ever used: setting rows "last_run", "last_attempt" (attempts, steps, hooks and salvage) and "last_hold",
-- "0" for none.
-- name: counters rows: setting
SELECT 'last_run' AS name,
    CAST(ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'run'), 0) AS TEXT) AS value
UNION ALL
SELECT 'last_attempt',
    CAST(ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name IN ('attempt', 'step', 'hook', 'salvage')), 0) AS TEXT)
UNION ALL
SELECT 'last_hold',
    CAST(ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'hold'), 0) AS TEXT)
