-- SPDX-License-Identifier: MIT

-- name: slot.put
INSERT INTO slot (run, iteration, slot, stage, task, round, fix, stalled, attempt, answer, answer_hash, tree, previous_tree,
    previous_answer_hash, diff, interrupted, reason, cause, fixes, "check", failed_check, item, message,
    leaving, worktree, branch, base_commit, base_tree, commit_id, obstacle, hook_changes,
    retries, retry_at, cooling, beside, head, head_at, wait, wait_reason, wait_since, wait_until,
    wait_kind, end_kind, accepted, product, red_check, setup, setup_lost, base, copied_hash, prepares,
    remedy, rounds, earlier_answer, again, protected_paths, merge, asked, asked_why, diff_hash, gap,
    question, question_attempt, reply, own_commit, own_base_commit, own_base_tree, voter_of, reviewer)
VALUES (:run, :iteration, :slot, :stage, :task, :round, :fix, :stalled, :attempt, :answer, :answer_hash, :tree, :previous_tree,
    :previous_answer_hash, :diff, :interrupted, :reason, :cause, :fixes, :check, :failed_check, :item, :message,
    :leaving, :worktree, :branch, :base_commit, :base_tree, :commit_id, :obstacle, :hook_changes,
    :retries, :retry_at, :cooling, :beside, :head, :head_at, :wait, :wait_reason, :wait_since, :wait_until,
    :wait_kind, :end_kind, :accepted, :product, :red_check, :setup, :setup_lost, :base,
    :copied_hash, :prepares, :remedy, :rounds, :earlier_answer, :again, :protected_paths, :merge,
    :asked, :asked_why, :diff_hash, :gap, :question, :question_attempt, :reply,
    :own_commit, :own_base_commit, :own_base_tree,
    :voter_of, :reviewer)
ON CONFLICT (run, iteration, slot) DO UPDATE SET
    stage = excluded.stage, task = excluded.task, round = excluded.round, fix = excluded.fix, stalled = excluded.stalled,
    attempt = excluded.attempt, answer = excluded.answer, answer_hash = excluded.answer_hash, tree = excluded.tree,
    previous_tree = excluded.previous_tree, previous_answer_hash = excluded.previous_answer_hash, diff = excluded.diff,
    interrupted = excluded.interrupted, reason = excluded.reason, cause = excluded.cause, fixes = excluded.fixes,
    "check" = excluded."check", failed_check = excluded.failed_check, item = excluded.item, message = excluded.message,
    leaving = excluded.leaving, worktree = excluded.worktree, branch = excluded.branch, base_commit = excluded.base_commit,
    base_tree = excluded.base_tree, commit_id = excluded.commit_id, obstacle = excluded.obstacle,
    hook_changes = excluded.hook_changes,
    retries = excluded.retries, retry_at = excluded.retry_at, cooling = excluded.cooling,
    beside = excluded.beside, head = excluded.head, head_at = excluded.head_at,
    wait = excluded.wait, wait_reason = excluded.wait_reason, wait_since = excluded.wait_since, wait_until = excluded.wait_until,
    wait_kind = excluded.wait_kind, end_kind = excluded.end_kind, accepted = excluded.accepted,
    product = excluded.product, red_check = excluded.red_check, setup = excluded.setup,
    setup_lost = excluded.setup_lost, base = excluded.base,
    copied_hash = excluded.copied_hash, prepares = excluded.prepares,
    remedy = excluded.remedy, rounds = excluded.rounds, earlier_answer = excluded.earlier_answer, again = excluded.again,
    protected_paths = excluded.protected_paths, merge = excluded.merge,
    asked = excluded.asked, asked_why = excluded.asked_why,
    diff_hash = excluded.diff_hash, gap = excluded.gap,
    question = excluded.question, question_attempt = excluded.question_attempt, reply = excluded.reply,
    own_commit = excluded.own_commit, own_base_commit = excluded.own_base_commit,
    own_base_tree = excluded.own_base_tree,
    voter_of = excluded.voter_of, reviewer = excluded.reviewer

-- name: slot.unfinished rows: slot
SELECT slot.* FROM run CROSS JOIN slot ON slot.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, slot.iteration, slot

-- Pages by :after, which holds iteration and slot.
-- name: run.slots rows: slot
SELECT iteration << 16 | slot AS after, * FROM slot
WHERE run = :run AND (iteration, slot) > (ifnull(:after, 0) >> 16, ifnull(:after, 0) & 65535)
ORDER BY iteration, slot

-- What passed on a branch of its own, with commits on it: one of these branches, and in slot how many there are.
-- name: run.branches rows: slot
SELECT slot.run, min(slot.branch) AS branch, count(*) AS slot
FROM json_each(:runs) AS wanted CROSS JOIN run ON run.id = wanted.value CROSS JOIN slot ON slot.run = run.id
    CROSS JOIN task ON task.run = slot.run AND task.id = slot.task
WHERE slot.stage = 'passed' AND task.state = 'passed' AND slot.branch IS NOT NULL
    AND slot.commit_id IS NOT NULL AND slot.commit_id IS NOT run.base_commit
GROUP BY slot.run
