-- SPDX-License-Identifier: MIT

-- name: attempt.put
INSERT INTO attempt (id, run, number, iteration, slot, task, role, round, agent, model, uuid, boot_id, state, exit_code, signal,
    cause, process, provider, outcome, tokens_input, tokens_cached, tokens_cache_write, tokens_output, tokens_reasoning,
    cost_usd, sandbox, session, answer_hash, bytes, started_at, ended_at,
    account, resumes, denials, tool_errors, says_no_change, reserved_usd, reserved_tokens, end_kind,
    output_hash, left_out, left_out_files, diff_bytes, diff_shown,
    output_size, prompt_hash, diff_hash, program, program_hash, program_version, answered_by, finding,
    given_hash, stderr_hash, carrier_hash, carrier_fault, diff, task_hash, judge_hash, reviewer, launcher, node)
VALUES (:id, :run, :number, :iteration, :slot, :task, :role, :round, :agent, :model, :uuid, :boot_id, :state, :exit_code, :signal,
    :cause, :process, :provider, :outcome, :tokens_input, :tokens_cached, :tokens_cache_write, :tokens_output, :tokens_reasoning,
    :cost_usd, :sandbox, :session, :answer_hash, :bytes, :started_at, :ended_at,
    :account, :resumes, :denials, :tool_errors, :says_no_change, :reserved_usd, :reserved_tokens, :end_kind,
    :output_hash, :left_out, :left_out_files, :diff_bytes, :diff_shown,
    :output_size, :prompt_hash, :diff_hash, :program, :program_hash, :program_version, :answered_by, :finding,
    :given_hash, :stderr_hash, :carrier_hash, :carrier_fault, :diff, :task_hash, :judge_hash, :reviewer, :launcher, :node)
ON CONFLICT (id) DO UPDATE SET
    run = excluded.run, number = excluded.number, iteration = excluded.iteration, slot = excluded.slot,
    task = excluded.task, role = excluded.role, round = excluded.round, agent = excluded.agent, model = excluded.model,
    uuid = excluded.uuid, boot_id = excluded.boot_id, state = excluded.state, exit_code = excluded.exit_code,
    signal = excluded.signal, cause = excluded.cause, process = excluded.process, provider = excluded.provider,
    outcome = excluded.outcome, tokens_input = excluded.tokens_input, tokens_cached = excluded.tokens_cached,
    tokens_cache_write = excluded.tokens_cache_write, tokens_output = excluded.tokens_output,
    tokens_reasoning = excluded.tokens_reasoning, cost_usd = excluded.cost_usd, sandbox = excluded.sandbox, session = excluded.session,
    answer_hash = excluded.answer_hash, bytes = excluded.bytes, started_at = excluded.started_at,
    ended_at = excluded.ended_at, account = excluded.account, resumes = excluded.resumes, denials = excluded.denials,
    tool_errors = excluded.tool_errors, says_no_change = excluded.says_no_change, reserved_usd = excluded.reserved_usd, reserved_tokens = excluded.reserved_tokens,
    end_kind = excluded.end_kind, output_hash = excluded.output_hash, left_out = excluded.left_out, left_out_files = excluded.left_out_files,
    diff_bytes = excluded.diff_bytes, diff_shown = excluded.diff_shown,
    output_size = excluded.output_size, prompt_hash = excluded.prompt_hash, diff_hash = excluded.diff_hash,
    program = excluded.program, program_hash = excluded.program_hash, program_version = excluded.program_version,
    answered_by = excluded.answered_by, finding = excluded.finding,
    given_hash = excluded.given_hash, stderr_hash = excluded.stderr_hash,
    carrier_hash = excluded.carrier_hash, carrier_fault = excluded.carrier_fault,
    diff = excluded.diff, task_hash = excluded.task_hash, judge_hash = excluded.judge_hash, reviewer = excluded.reviewer,
    launcher = excluded.launcher, node = excluded.node

-- Every attempt of the unfinished runs, ended ones included.
-- name: attempt.unfinished rows: attempt
SELECT attempt.* FROM run CROSS JOIN attempt ON attempt.run = run.id
WHERE run.state NOT IN ('succeeded', 'failed', 'cancelled')
ORDER BY run.id, number

-- Pages by :after.
-- name: run.attempts rows: attempt
SELECT number AS after, * FROM attempt WHERE run = :run AND number > ifnull(:after, 0) ORDER BY number

-- The cost of all attempts, NULL: none reported any.
-- name: run.spent rows: attempt
SELECT run, sum(cost_usd) AS cost_usd
FROM json_each(:runs) AS wanted CROSS JOIN attempt ON attempt.run = wanted.value GROUP BY run

-- name: attempt.get rows: attempt
SELECT * FROM attempt WHERE id = :id

-- What never began, because its number was taken.
-- name: attempt.drop
DELETE FROM attempt WHERE id = :id
