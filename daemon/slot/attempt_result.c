/* SPDX-License-Identifier: MIT */
#include "slot/attempt_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/strip.h"
#include "core/budget.h"
#include "core/cause.h"
#include "core/clocks.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "evidence/check_evidence.h"
#include "job/collect.h"
#include "job/provider_result.h"
#include "job/secrets.h"
#include "model/activity.h"
#include "model/dirs.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "model/view.h"
#include "proc/inspect.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "sched/accounts.h"
#include "sched/launcher_slots.h"
#include "sched/spending.h"
#include "slot/attempt.h"
#include "slot/disputed.h"
#include "slot/machine.h"
#include "slot/open_question.h"
#include "slot/retry.h"
#include "slot/review_rows.h"
#include "slot/round.h"
#include "slot/wait.h"
#include "task/task_op.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* errno of the host fault that prevented the start or the saving of the output; 0: none. */
static int fault_of(const struct slot *slot, const struct collect_job *w)
{
	const struct exit_record *r = &slot->record;

	if (slot->lost)
		return 0;
	if (r->how == EXIT_NOT_STARTED)
		return host_fault(r->status) ? r->status : 0;
	return w->cut ? ENOSPC : 0;
}

/* The fault as a sentence. */
static const char *fault_words(const struct slot *slot, const struct collect_job *w)
{
	return w->cut ? w->error : slot->record.error;
}

/* Why the attempt is repeated, as a sentence; NULL: no reason known. */
static const char *words_of(const struct slot *slot, const struct attempt_end *end, const struct collect_job *w)
{
	const struct agent_result *r = &w->result;

	if (end->facts->host)
		return fault_words(slot, w);
	if (r->incomplete && r->notice != NULL)
		return r->notice;
	return r->error != NULL ? r->error : end->row->cause;
}

/* The service or the host refused the attempt: repeat it. Returns false if it counts. */
static bool begins_again(struct txn *txn, struct slot *slot, const struct attempt_end *end, const struct collect_job *w)
{
	struct slot_row *row;

	if (end->reason == MOVE_RETRY && !end->lost) {
		attempt_begin_again(txn, slot, end->row, end->facts, end->to, end->facts->host ? fault_of(slot, w) : 0,
		    words_of(slot, end, w));
		return true;
	}
	row = txn_edit_slot(txn, slot);
	if (end->facts->role == ROLE_SETUP) {
		row->setup_lost = end->lost ? row->setup_lost + 1 : 0;
		return false;
	}
	row->interrupted = end->lost ? row->interrupted + 1 : 0;
	if (!end->lost)
		row->retries = 0;
	return false;
}

void attempt_take_answer(struct txn *txn, struct slot *slot, const struct attempt_end *end)
{
	if (!end->lost && !end->failed)
		txn_edit_slot(txn, slot)->answer = end->row->id;
}

void attempt_gives_back(struct txn *txn, struct slot *slot, const struct attempt_end *end)
{
	if (end->row->outcome != TASK_R_STOP_MARKER) {
		review_skip(txn, slot, SKIP_NOT_PICKED);
		return;
	}
	txn_edit_run(txn, slot->run)->stopped = 1;
	review_skip(txn, slot, SKIP_STOP_MARKER);
	slot_set_reason(txn_edit_slot(txn, slot), REASON(WAIT_RELEASED, "given back: the agent gave a stop marker"));
}

void attempt_move(struct txn *txn, struct slot *slot, const struct attempt_end *end)
{
	/* without git there is nothing to measure first */
	if (end->to == SLOT_S_HELD && !end->lost) {
		question_hold(txn, slot);
		return;
	}
	slot_move(txn, slot, slot_stage(slot), end->to,
	    &(struct move_why){ .reason = end->reason, .cause = attempt_row_cause(end->row), .hold = HOLD_LOST });
}

/* It is the agent's, not only that of what had placed it. */
static bool is_status_known(const struct slot *slot)
{
	return !slot->lost && slot->record.far != EXIT_FAR_UNKNOWN;
}

/* Whether it was recorded that the attempt is ended because of its service. */
static bool was_refused(const struct slot *slot)
{
	return run_attempt(slot->run, slot->row->attempt)->provider != PROVIDER_NONE;
}

/* The recorded reason for ending the process decides what its exit means: only a recorded decision
 * makes it "cancelled". over: it had given its final result, so a time limit ended only its
 * waiting; perhaps no daemon was there to notice in time. An older shim does not tell whether the
 * result came before its signal, or only in reaction to it. */
static enum process_result process_of(const struct slot *slot, bool over)
{
	const struct exit_record *r = &slot->record;
	bool before = over && r->signalled_ms != 0;

	if (slot->lost)
		return PROCESS_LOST;
	if (r->how == EXIT_NOT_STARTED)
		return PROCESS_NOT_STARTED;
	/* without positive evidence of its end */
	if (r->far == EXIT_FAR_UNKNOWN && !(r->by == EXIT_TERM && slot_ending(slot)))
		return PROCESS_LOST;
	switch (r->by) {
	case EXIT_WALL:
		return before ? PROCESS_LINGERED : PROCESS_TIMEOUT;
	case EXIT_IDLE:
		return before ? PROCESS_LINGERED : PROCESS_IDLE;
	case EXIT_RESULT:
		/* it had begun another turn when its time was up */
		return over ? PROCESS_LINGERED : PROCESS_IDLE;
	case EXIT_TERM:
		return slot_ending(slot) ? PROCESS_CANCELLED : was_refused(slot) ? PROCESS_REFUSED : PROCESS_LOST;
	case EXIT_OWN:
		break;
	}
	return r->how == EXIT_BY_CODE ? PROCESS_EXITED : PROCESS_SIGNALLED;
}

static void take_output(const struct run *run, struct attempt_row *a, struct collect_job *w)
{
	struct agent_result *r = &w->result;

	a->tokens_input = r->tokens_input;
	a->tokens_cached = r->tokens_cached;
	a->tokens_cache_write = r->tokens_cache_write;
	a->tokens_output = r->tokens_output;
	a->tokens_reasoning = r->tokens_reasoning;
	a->cost_usd = r->cost_usd;
	a->denials = r->denials;
	a->tool_errors = r->tool_errors;
	a->session = r->session;
	r->session = NULL;
	a->answer_hash = w->answer_hash;
	w->answer_hash = NULL;
	a->output_hash = w->output_hash;
	w->output_hash = NULL;
	a->stderr_hash = w->stderr_hash;
	a->carrier_hash = w->carrier.hash;
	a->carrier_fault = w->carrier.fault;
	w->stderr_hash = w->carrier.hash = w->carrier.fault = NULL;
	a->finding = w->finding;
	w->finding = NULL;
	a->output_size = a->output_hash != NULL ? w->output_size : ROW_NONE;
	a->answered_by = r->model;
	r->model = NULL;
	text_set(&a->node, a->node != NULL ? a->node : w->node);
	if (r->version != NULL)
		text_set(&a->program_version, r->version);
	if (w->says_no_change)
		a->says_no_change = 1;
	if (r->tokens_of_session)
		budget_take_off(run->rows->attempts, run->rows->nattempts, a);
}

#define NOT_CONFINED \
	"the reviewer was not confined: this kernel has no Landlock; changes to the tree are only detected afterwards"

#define NOT_CONFINED_THERE \
	"the reviewer was not confined behind its launcher; changes to the tree are only detected afterwards"

/* Whether an earlier attempt of the run was not confined, so that there is a warning already. */
static bool has_unconfined(const struct run_rows *rows, const struct attempt_row *but)
{
	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];

		if (a->id != but->id && a->sandbox != NULL && strcmp(a->sandbox, "none") == 0)
			return true;
	}
	return false;
}

/* Record how far a read-only reviewer was confined. */
static void take_sandbox(struct txn *txn, const struct slot *slot, struct attempt_row *a)
{
	struct run *run = slot->run;

	if (!slot_plan(slot)->read_only || slot_plan(slot)->sandbox == SANDBOX_OFF || slot->lost ||
	    slot->record.how == EXIT_NOT_STARTED)
		return;
	a->sandbox = slot->record.sandbox > 0 ? xasprintf("landlock %d", slot->record.sandbox) : xstrdup("none");
	if (slot->record.sandbox == 0 && !has_unconfined(run->rows, a))
		run_warn(txn, run, a->launcher != NULL ? NOT_CONFINED_THERE : NOT_CONFINED);
}

static char *lost_detail(const struct slot *slot)
{
	if (!slot->lost && slot->record.far == EXIT_FAR_UNKNOWN)
		return xstrdup(slot->record.error);
	if (!slot->lost)
		return xasprintf("its shim was told to end by process %lld of uid %lld, not by "
		    "this daemon",
		    (long long)slot->record.sender_pid, (long long)slot->record.sender_uid);
	return xstrdup(slot->lost_detail);
}

/* Takes ownership of cause: its service refused the login. */
static char *with_remedy(char *cause, const char *agent)
{
	const struct agent_preset *preset = agent_preset_find(agent);
	char *text = xasprintf("%s; log in: %s", cause,
	    preset != NULL && preset->login_help != NULL ? preset->login_help :
	    "start the program once as the user that runs the agents, or add its key to env in "
	    "rld.toml");

	free(cause);
	return text;
}

/* What is known about a failure beyond the attempt's end. An output without an end is explained by
 * the last line of stderr, if any: in a program that exited with 0 that may be any line. malloc'd;
 * NULL: nothing. */
static char *failure_of(const struct attempt_facts *facts, const struct collect_job *w)
{
	const struct agent_result *r = &w->result;

	if (w->error != NULL)
		return xstrdup(w->error);
	if (w->last_words == NULL || (r->error != NULL && !r->incomplete))
		return xstrdup(r->error);
	if (r->error != NULL && facts->process == PROCESS_EXITED && facts->status == 0)
		return xasprintf("%s; last line of standard error: %s", r->error, w->last_words);
	return xstrdup(w->last_words);
}

#define CONFINED \
	"; its sandbox may have denied that: " \
	    "add the path to writable of [agent.%s] in rld.toml, or set review.read_only = false"

/* A program that was denied a file reports that in its output, without knowing about our sandbox.
 * output: what is known of it; NULL: nothing. */
static bool was_denied(const struct exit_record *record, const char *output)
{
	if (record->how == EXIT_NOT_STARTED)
		return record->status == EACCES;
	return output != NULL && (strcasestr(output, "permission denied") != NULL || strstr(output, "EACCES") != NULL);
}

/* Takes ownership of cause. */
static char *with_sandbox(char *cause, const struct slot *slot, const char *output, const char *agent)
{
	char *text;

	if (slot->lost || slot->record.sandbox == 0 || !was_denied(&slot->record, output))
		return cause;
	text = xasprintf("%s" CONFINED, cause, agent);
	free(cause);
	return text;
}

/* malloc'd, and its kind. */
static char *cause_of(const struct slot *slot, const struct attempt_facts *facts,
    struct attempt_limit limit, const struct collect_job *w, enum end_kind *kind)
{
	const struct attempt_row *a = run_attempt(slot->run, w->attempt);
	const char *agent = a->agent, *launcher = a->launcher;
	char *detail, *safe, *cause, spent[RUN_SPENT_MAX];

	if (facts->process == PROCESS_TIMEOUT && run_is_out_of_time(slot->run)) {
		run_spent(slot->run, spent);
		*kind = END_LIMIT;
		return xasprintf(RUN_LIMIT "%s", spent);
	}
	*kind = END_HOST;
	if (attempt_is_cut(facts))
		return xasprintf("host: %s", w->error);
	if (facts->host)
		return xasprintf("host: %s; %s", fault_words(slot, w), host_fault_remedy(fault_of(slot, w)));
	*kind = attempt_end_kind(facts);
	if (facts->process == PROCESS_LOST)
		detail = lost_detail(slot);
	else if (slot->record.how == EXIT_NOT_STARTED && slot->record.step == EXIT_STEP_EXEC)
		detail = launcher != NULL ?
		    xasprintf("%s; check the command of [launcher.%s] in rld.toml and PATH",
		    slot->record.error, launcher) :
		    xasprintf("%s; check the command of [agent.%s] in rld.toml and PATH", slot->record.error, agent);
	else if (slot->record.far == EXIT_FAR_NOT_STARTED && w->last_words != NULL)
		detail = xasprintf("%s: %s", slot->record.error, w->last_words);
	else if (slot->record.how == EXIT_NOT_STARTED)
		detail = xstrdup(slot->record.error);
	else
		detail = failure_of(facts, w);
	safe = detail != NULL ? strip_line(detail) : NULL;
	cause = attempt_cause(facts, &limit, safe);
	cause = with_sandbox(cause, slot, safe, agent);
	free(safe);
	free(detail);
	return facts->provider == PROVIDER_AUTH ? with_remedy(cause, agent) : cause;
}

static void collect_cb(void *arg, struct job *job);

static struct job *collect_new(const struct slot *slot)
{
	const struct run *run = slot->run;
	const struct attempt_row *a = run_attempt(run, slot->row->attempt);
	struct collect_job *w = xcalloc(1, sizeof(*w));

	w->key = slot_key(slot);
	w->attempt = a->id;
	w->reader = plan_agent(slot_plan(slot), (enum role)a->role, a->agent)->reader;
	w->secrets = secrets_new(run->rows->run.environment, &run->plan);
	w->check = a->role == ROLE_CHECK ? xstrdup(a->agent) : NULL;
	w->check_status = slot->record.how == EXIT_BY_SIGNAL ? -(int64_t)slot->record.status : slot->record.status;
	w->disk_bytes = ROW_NONE;
	w->worktree = xstrdup(slot->row->worktree);
	/* slot 0 has no task to give back, and must not pass without a verdict */
	if (sources[run_source(run)].markers && slot->row->slot != 0 &&
	    (a->role == ROLE_IMPLEMENT || a->role == ROLE_FIX))
		w->markers = strings_copy(run->plan.stop_markers);
	w->uuid = a->launcher != NULL ? xstrdup(a->uuid) : NULL;
	w->fixes = a->role == ROLE_FIX;
	w->may_ask = slot_plan(slot)->on_question == ON_QUESTION_HOLD &&
	    (a->role == ROLE_IMPLEMENT || a->role == ROLE_FIX);
	if (a->role == ROLE_IMPLEMENT)
		w->no_change_markers = strings_copy(run->plan.no_change_markers);
	w->stdout_bytes = slot->record.stdout_bytes;
	w->stderr_bytes = slot->record.stderr_bytes;
	w->dropped = slot->record.dropped;
	w->rebooted = strcmp(a->boot_id, run->engine->ports.boot_id(run->engine->ports.clock_ctx)) != 0;
	w->unasked = slot->record.signalled_ms != 0 ? slot->record.stdout_signalled : UINT64_MAX;
	w->exit_code = !is_status_known(slot) ? ROW_NONE :
	    ending_code(slot_plan(slot), (enum role)a->role, w->reader, &slot->record);
	if (!slot->lost && slot->record.by == EXIT_TERM && !slot_ending(slot))
		w->refused = (enum provider_result)a->provider;
	w->ended_at = slot->lost || slot->record.ended_ms == 0 ? engine_now(run->engine) : slot->record.ended_ms;
	w->zone = ending_zone(slot_plan(slot), plan_agent(slot_plan(slot), (enum role)a->role, a->agent));
	w->workspace = xstrdup(run->rows->run.workspace);
	w->hands_over = a->role == ROLE_REVIEW && profile_has_file(slot_plan(slot)->profile);
	if (w->hands_over) {
		w->carrier.file = dirs_review_file(run->engine->state_dir, &run->rows->run, slot_plan(slot), slot->row);
		w->carrier.workspace = xstrdup(run->rows->run.workspace);
	}
	if (a->role == ROLE_FIX && slot_plan(slot)->fixer == FIXER_CORRECTOR && slot_plan(slot)->review_file != NULL) {
		char *dir = slot_workdir(slot);

		w->review_file = xasprintf("%s/%s", dir, slot_plan(slot)->review_file);
		free(dir);
	}
	return &w->job;
}

static struct attempt_facts facts_of(const struct slot *slot, const struct attempt_row *a, const struct collect_job *w)
{
	const struct run *run = slot->run;
	const struct plan *plan = slot_plan(slot);
	bool has_git = run->rows->run.has_git == 1;

	return (struct attempt_facts){
		.role = (enum role)a->role,
		.process = process_of(slot, w->result.over),
		.status = slot->record.status,
		.is_error = w->result.is_error || w->error != NULL,
		.provider = w->result.provider,
		.transient = w->result.transient,
		.now = engine_now(run->engine),
		.reset_at = w->result.reset_at,
		.account = a->account != NULL,
		.host = (!slot->lost && slot->record.how == EXIT_NOT_STARTED &&
		    host_fault(slot->record.status)) || (w->cut && role_is_command((enum role)a->role)),
		.cut = w->cut,
		.unreached = launcher_failed(slot, a),
		.retries = slot->row->retries,
		.retries_max = plan->retries,
		.resumed = a->resumes != ROW_NONE && (attempt_interrupted(slot, a) != NULL ||
		    attempt_is_asked(slot, a) || question_goes_on(slot, a)),
		.denied = w->result.denials > 0,
		.has_git = has_git,
		.review = plan->review,
		.later = plan->review && plan->scope == SCOPE_RUN && slot->row->slot != 0,
		.stop = w->stop || (slot->row->task == NULL && slot->row->slot != 0),
		.asks = w->question != NULL,
		.by_status = plan->profile->carrier == CARRIER_EXIT,
		.checkout = slot_has_checkout(slot),
		.checks_room = plan_checks_room(plan),
		.merged = slot_checks_merge(slot),
		.checks = plan->review && (plan->scope == SCOPE_TASK || slot->row->slot == 0 ||
		    slot->row->base == BASE_CHECKING) ? checks_count(slot) : 0,
		.check = a->role == ROLE_CHECK && !slot_replays_checks(slot) ?
		    checks_known(slot, slot_room_tree(slot), slot->row->check) : slot->row->check,
		.second = slot_reruns_check(slot) || !run_is_recorded(run),
		.setups = (int64_t)strings_count(plan->setup),
		.setup = slot->row->setup,
		.base_room = slot->row->prepares == PREPARES_BASE,
		.items_left = review_items_left(slot),
		.on_lost = attempt_on_lost(slot, a),
		.losses = (a->role == ROLE_SETUP ? slot->row->setup_lost : slot->row->interrupted) + 1,
	};
}

/* The time limit that ended it, if any. */
static struct attempt_limit limit_of(const struct slot *slot, enum role role, enum reader_kind reader)
{
	static const enum clock by[] = { [EXIT_WALL] = CLOCK_WALL, [EXIT_IDLE] = CLOCK_IDLE,
	    [EXIT_RESULT] = CLOCK_POST_RESULT, [EXIT_TERM] = CLOCK_WALL };
	const struct clocks *clocks = &slot_plan(slot)->clocks[role];
	enum clock clock = by[slot->record.by];

	return (struct attempt_limit){ clocks->ms[clock],
	    !role_is_command(role) && reader_can_tell(reader), clocks_origin(clocks, role, clock) };
}

/* Record how the attempt ended. unanswered: nothing in its output shows that its
 * service answered. */
static void take_end(const struct slot *slot, struct attempt_row *a, const struct attempt_facts *facts, bool unanswered)
{
	const struct exit_record *r = &slot->record;

	a->state = facts->process == PROCESS_LOST ? ATTEMPT_S_LOST : ATTEMPT_S_EXITED;
	a->process = (int)facts->process;
	a->provider = (int)(facts->provider == PROVIDER_OK && unanswered && !attempt_succeeded(facts) ?
	    PROVIDER_UNKNOWN : facts->provider);
	a->outcome = (int)attempt_outcome(facts);
	a->ended_at = slot->lost || r->ended_ms == 0 ? engine_now(slot->run->engine) : r->ended_ms;
	if (slot->lost)
		return;
	a->exit_code = r->how == EXIT_BY_CODE && is_status_known(slot) ? r->status : ROW_NONE;
	a->signal = r->how == EXIT_BY_SIGNAL && is_status_known(slot) ? r->status : ROW_NONE;
	a->bytes = (int64_t)(r->stdout_bytes + r->stderr_bytes);
}

/* malloc'd; NULL: nothing. */
static char *limits_felt(const struct slot *slot)
{
	return attempt_felt(slot->record.memory_kills, slot->record.memory_max, slot->record.refused_forks);
}

static void take_cause(const struct slot *slot, struct attempt_row *a,
    const struct attempt_facts *facts, const struct collect_job *w)
{
	enum end_kind kind;
	char *text = cause_of(slot, facts, limit_of(slot, facts->role, w->reader), w, &kind), *felt = limits_felt(slot);
	char *whole = felt != NULL ? xasprintf("%s; %s", text, felt) : NULL;

	attempt_set_cause(a, CAUSE(kind, felt != NULL ? whole : text));
	free(whole);
	free(felt);
	free(text);
}

/* It has succeeded in spite of them, with less than it wanted. */
static void warn_of_limits(struct txn *txn, struct slot *slot, const struct attempt_row *a)
{
	char *felt = limits_felt(slot);

	if (felt != NULL)
		slot_warn(txn, slot, "attempt %lld/%lld: %s", (long long)a->run, (long long)a->number, felt);
	free(felt);
}

static void take_disk(struct txn *txn, const struct slot *slot, const struct collect_job *w)
{
	const struct task_row *task = slot_task(slot);

	if (task != NULL && w->disk_bytes != ROW_NONE)
		txn_edit_task(txn, task)->disk_bytes = w->disk_bytes;
}

/* The attempt's output can be neither read nor saved for now: wait, nothing of it is lost. */
static void wait_to_collect(struct slot *slot, const struct collect_job *w)
{
	struct txn *txn = txn_new(slot->run->engine);

	slot_waits(txn, slot, WAIT_HOST, w->job.fault, w->error);
	txn_commit(txn);
	engine_job_later(slot->run->engine, HOST_LOOK_MS, collect_new(slot), &collect_type,
	    collect_cb, slot->run->engine);
}

static void collected(struct slot *slot, struct collect_job *w)
{
	struct run *run = slot->run;
	struct attempt_facts facts = facts_of(slot, run_attempt(run, w->attempt), w);
	struct attempt_row *a;
	struct attempt_end end;
	enum move_reason reason;
	enum slot_stage to = stage_after_attempt(&facts, &reason);
	struct txn *txn;

	if (w->job.fault != 0 && w->error != NULL && !slot_ending(slot)) {
		wait_to_collect(slot, w);
		return;
	}
	txn = txn_new(run->engine);
	a = txn_edit_attempt(txn, run_attempt(run, w->attempt));
	slot_wait_over(txn, slot);
	take_output(run, a, w);
	if (facts.role == ROLE_REVIEW)
		take_sandbox(txn, slot, a);
	if (w->review_file != NULL && attempt_succeeded(&facts))
		review_marked(txn, slot, w->marks, w->nmarks);
	if (attempt_succeeded(&facts) && facts.asks && reason != MOVE_RELEASED)
		question_take(txn, slot, w->question);
	else if (attempt_succeeded(&facts) && (facts.role == ROLE_IMPLEMENT || facts.role == ROLE_FIX))
		question_over(txn, slot);
	if (attempt_succeeded(&facts))
		disputed_take(txn, slot, w->disputes, w->ndisputes, w->more_disputes);
	take_end(slot, a, &facts, w->result.unanswered && !role_is_command((enum role)a->role));
	if (reason == MOVE_RELEASED && w->stop)
		a->outcome = TASK_R_STOP_MARKER;
	take_disk(txn, slot, w);
	if (attempt_succeeded(&facts))
		account_serves(txn, run->engine, a);
	if (!attempt_succeeded(&facts) || to == SLOT_S_FAILED)
		take_cause(slot, a, &facts, w);
	else
		warn_of_limits(txn, slot, a);
	if (!slot->lost && !slot->record.tree_empty)
		slot_warn(txn, slot, "could not verify that all processes of attempt %lld/%lld have ended",
		    (long long)a->run, (long long)a->number);
	if (w->doubt != NULL)
		run_warn_once(txn, run, WARNING_TIME_ZONE, w->doubt);
	budget_settle(txn, slot, a);
	launcher_ended(txn, slot, a);
	attempt_emit_ended(txn, a);
	activity_end(&slot->activity);
	end = (struct attempt_end){ .row = a, .facts = &facts, .to = to, .reason = reason };
	end.lost = a->state == ATTEMPT_S_LOST || attempt_is_cut(&facts);
	end.failed = to == SLOT_S_FAILED && !end.lost;
	if (slot_ending(slot) || !begins_again(txn, slot, &end, w))
		slot_result(txn, slot, &(struct stage_result){ .attempt = &end, .step = ROW_NONE });
	txn_commit(txn);
}

static void collect_cb(void *arg, struct job *job)
{
	struct collect_job *w = (struct collect_job *)job;
	struct slot *slot = slot_at_job(arg, w->key);

	if (slot != NULL && slot->row->attempt == w->attempt)
		collected(slot, w);
	job_free(job);
}

void attempt_collect(struct slot *slot)
{
	engine_job(slot->run->engine, collect_new(slot), &collect_type, collect_cb, slot->run->engine);
}
