/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strip.h"
#include "core/review.h"
#include "engine/engine_int.h"
#include "record/host_fault.h"

/* The review or fix that it is, the review that a check comes before. */
static int64_t round_of(const struct slot_row *row, enum role role)
{
	switch (role) {
	case ROLE_CHECK:
		return row->round + 1;
	case ROLE_REVIEW:
		return row->round;
	case ROLE_FIX:
		return row->fix;
	case ROLE_IMPLEMENT:
	case ROLE_COMMIT:
	case ROLES:
		break;
	}
	return 0;
}

void attempt_begin(struct turn *turn, struct lane *lane, enum role role)
{
	struct run *run = lane->run;
	struct engine *engine = run->engine;
	const struct agent_plan *agent = &lane_plan(lane)->agents[role];
	const struct task_row *task = lane_task(lane);
	struct attempt_row *a;
	char uuid[37];

	if (task != NULL && task->locked_tree != NULL) {
		log_bug("run %lld: task %s has passed and is locked; no %s attempt", (long long)run->rows->run.id, lane->row->task, state_name(&role_names, (int)role));
		return;
	}
	a = row_new(ROW_ATTEMPT);
	engine->ports.uuid(engine->ports.clock_ctx, uuid);
	a->id = ++engine->last_attempt;
	a->run = run->rows->run.id;
	a->number = (int64_t)run->rows->nattempts + 1;
	a->iteration = lane->row->iteration;
	a->slot = lane->row->slot;
	a->task = xstrdup(lane->row->task);
	a->role = (int)role;
	a->round = round_of(lane->row, role);
	a->agent = xstrdup(role == ROLE_CHECK ? lane_plan(lane)->checks[lane->row->check - 1] : agent->name);
	a->model = xstrdup(agent->model);
	a->account = role != ROLE_CHECK ? xstrdup(agent->account) : NULL;
	a->uuid = xstrdup(uuid);
	a->boot_id = xstrdup(engine->ports.boot_id(engine->ports.clock_ctx));
	a->state = ATTEMPT_S_STARTING;
	a->resumes = attempt_resumes(lane, a);
	lane->row->attempt = a->id;
	turn_put(turn, ROW_ATTEMPT, a);
	run_rows_put(run->rows, ROW_ATTEMPT, a);
	turn_act(turn, ACT_COMPOSE, run, lane, a->id);
}

static json_t *attempt_body(const struct attempt_row *a)
{
	return json_pack("{s:I, s:I, s:s, s:s*, s:I, s:I}", "attempt", (json_int_t)a->id, "number", (json_int_t)a->number,
	    "role", state_name(&role_names, a->role), "agent", a->agent, "slot", (json_int_t)a->slot, "round", (json_int_t)a->round);
}

static void set_number(json_t *body, const char *name, int64_t value)
{
	if (value != ROW_NONE)
		json_object_set_new(body, name, json_integer(value));
}

static void tell_ended(struct turn *turn, const struct attempt_row *a)
{
	json_t *body = attempt_body(a);

	json_object_set_new(body, "state", json_string(state_name(&attempt_state_names, a->state)));
	set_number(body, "exit_code", a->exit_code);
	set_number(body, "signal", a->signal);
	json_object_set_new(body, "process", json_string(state_name(&process_result_names, a->process)));
	if (a->provider != PROVIDER_NONE)
		json_object_set_new(body, "provider", json_string(state_name(&provider_result_names, a->provider)));
	json_object_set_new(body, "outcome", json_string(state_name(&task_result_names, a->outcome)));
	if (a->cause != NULL)
		json_object_set_new(body, "cause", json_string(a->cause));
	set_number(body, "tokens_input", a->tokens_input);
	set_number(body, "tokens_output", a->tokens_output);
	if (a->cost_usd == a->cost_usd)
		json_object_set_new(body, "cost_usd", json_real(a->cost_usd));
	if (a->started_at != ROW_NONE && a->ended_at != ROW_NONE)
		set_number(body, "wall_ms", a->ended_at - a->started_at);
	turn_tell(turn, "attempt.ended", a->run, body);
}

/* Nothing of it ran. */
static void end_unstarted(struct turn *turn, struct lane *lane, enum process_result process, const char *cause)
{
	struct attempt_row *a = run_attempt(lane->run, lane->row->attempt);

	a->state = ATTEMPT_S_EXITED;
	a->process = (int)process;
	a->outcome = TASK_R_FAILED;
	text_set(&a->cause, cause);
	a->ended_at = engine_now(lane->run->engine);
	if (budget_release(a))
		turn_act_cooling(turn);
	turn_put(turn, ROW_ATTEMPT, a);
	tell_ended(turn, a);
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
}

void attempt_unstarted(struct turn *turn, struct lane *lane)
{
	end_unstarted(turn, lane, PROCESS_CANCELLED, "cancelled before it was started");
	lane_ended(turn, lane);
}

void attempt_forgone(struct turn *turn, struct lane *lane, const char *cause)
{
	const struct attempt_row *a = run_attempt(lane->run, lane->row->attempt);

	end_unstarted(turn, lane, PROCESS_NOT_STARTED, cause);
	text_set(&lane->row->reason, NULL);	/* it waits for nothing any more */
	if (a->role == ROLE_IMPLEMENT && lane_plan(lane)->review)
		review_skip(turn, lane, "implement not successful");
	lane_event(turn, lane, SLOT_E_FAILED, cause);
}

void attempt_started(struct lane *lane)
{
	struct attempt_row *a = run_attempt(lane->run, lane->id);
	struct turn *turn = turn_new(lane->run->engine);

	a->state = ATTEMPT_S_RUNNING;
	a->started_at = engine_now(lane->run->engine);
	lane_wait_over(turn, lane);
	turn_put(turn, ROW_ATTEMPT, a);
	turn_tell(turn, "attempt.started", a->run, attempt_body(a));
	turn_commit(turn);
	if (lane->row->task == NULL && a->role == ROLE_IMPLEMENT)
		pick_watch(lane);
	result_watch(lane);
	notice_watch(lane);
}

/* A check that failed: its output goes to a fixer, while there is a fix round left. */
static void check_failed(struct turn *turn, struct lane *lane, const struct attempt_row *a)
{
	enum round_end end = check_classify(lane->row->fix, lane->row->fixes);
	char *cause = xasprintf("check `%s` still fails after %lld fix attempt(s): %s", a->agent, (long long)lane->row->fix, a->cause);

	lane->row->failed_check = a->id;
	review_over(turn, lane, end, end == ROUND_EXHAUSTED ? cause : NULL);
	free(cause);
}

/* A stop marker, or nothing was picked: the task, if it had one, is somebody else's again. */
static void released(struct turn *turn, struct lane *lane, const struct attempt_row *a)
{
	struct run *run = lane->run;
	bool marker = a->outcome == TASK_R_STOP_MARKER;

	if (marker)
		run->rows->run.stopped = 1;
	turn_put(turn, ROW_RUN, &run->rows->run);
	review_skip(turn, lane, marker ? "the agent gave a stop marker" : "no task was picked");
	if (marker)
		text_set(&lane->row->reason, "given back: the agent gave a stop marker");
}

/* By its requirement such a program inherits everything; one that looks for a variable in vain has no other way to say so. */
static void reviewer_failed(struct turn *turn, struct lane *lane, const struct attempt_row *a, const char *cause)
{
	static const char left_out[] = "from your environment it gets PATH, HOME and the like, and the variables that env of [review] or of its agent names; "
	    "name others that it needs there, or pass them with --env NAME=VALUE";
	char *text;

	if (lane_plan(lane)->profile->carrier != CARRIER_EXIT || a->exit_code != 2) {
		review_error(turn, lane, cause);
		return;
	}
	text = xasprintf("%s; %s", cause, left_out);
	review_error(turn, lane, text);
	free(text);
	text = xasprintf("the review program failed: %s", left_out);
	run_warn(turn, lane->run, text);
	free(text);
}

/* The errno of the fault of the host that kept the attempt from being started, or its output from being kept; 0: there was none. */
static int fault_of(const struct lane *lane, const struct collect_work *w)
{
	const struct exit_record *r = &lane->record;

	if (lane->lost)
		return 0;
	if (r->how == EXIT_NOT_STARTED)
		return host_fault(r->status) ? r->status : 0;
	return w->cut ? ENOSPC : 0;
}

/* What it was, in words. */
static const char *fault_words(const struct lane *lane, const struct collect_work *w)
{
	return w->cut ? w->error : lane->record.error;
}

static void follow(struct turn *turn, struct lane *lane, const struct attempt_row *a, const struct attempt_facts *facts, enum slot_event event,
    const struct collect_work *w)
{
	bool lost = a->state == ATTEMPT_S_LOST || attempt_is_cut(facts);
	const char *cause = a->cause;

	if (event == SLOT_E_AGAIN || event == SLOT_E_AGAIN_CHECKOUT) {
		attempt_begin_again(turn, lane, a, facts, event, facts->host ? fault_of(lane, w) : 0, facts->host ? fault_words(lane, w) : w->result.incomplete && w->result.notice != NULL ? w->result.notice :
		    w->result.error != NULL ? w->result.error : a->cause);
		return;
	}
	lane->row->interrupted = lost ? lane->row->interrupted + 1 : 0;
	if (!lost)
		lane->row->retries = 0;
	if (lost)
		lane->hold_kind = HOLD_LOST;
	else if (event != SLOT_E_FAILED && (a->role == ROLE_IMPLEMENT || a->role == ROLE_FIX))
		lane->row->answer = a->id;
	if (event == SLOT_E_DONE_UNREVIEWED)
		review_skip(turn, lane, lane_plan(lane)->skip_reason);
	if (event == SLOT_E_RELEASED)
		released(turn, lane, a);
	if (event == SLOT_E_FAILED && a->role == ROLE_IMPLEMENT && lane_plan(lane)->review)
		review_skip(turn, lane, "implement not successful");
	if (event == SLOT_E_FAILED && a->role == ROLE_REVIEW) {
		reviewer_failed(turn, lane, a, cause);
		review_over(turn, lane, ROUND_REVIEWER_ERROR, cause);
	} else if (event == SLOT_E_FINDINGS) {
		check_failed(turn, lane, a);
	} else {
		lane_event(turn, lane, event, cause);
	}
}

/* It is on record that it was to be ended for its service. */
static bool was_refused(const struct lane *lane)
{
	return run_attempt(lane->run, lane->row->attempt)->provider != PROVIDER_NONE;
}

/* Who ended the process decides what its exit means: only a recorded decision makes it "cancelled". over: it had given its final
 * result, so a clock has ended nothing but its waiting; no daemon may have been there to notice before. The shim of a former version
 * does not tell whether the result came before its signal, or only as an answer to it. */
static enum process_result process_of(const struct lane *lane, bool over)
{
	const struct exit_record *r = &lane->record;
	bool before = over && r->signalled_ms != 0;

	if (lane->lost)
		return PROCESS_LOST;
	if (r->how == EXIT_NOT_STARTED)
		return PROCESS_NOT_STARTED;
	switch (r->by) {
	case EXIT_WALL:
		return before ? PROCESS_LINGERED : PROCESS_TIMEOUT;
	case EXIT_IDLE:
		return before ? PROCESS_LINGERED : PROCESS_IDLE;
	case EXIT_RESULT:
		/* it had taken up another turn when its time was over */
		return over ? PROCESS_LINGERED : PROCESS_IDLE;
	case EXIT_TERM:
		return lane_ending(lane) ? PROCESS_CANCELLED : was_refused(lane) ? PROCESS_REFUSED : PROCESS_LOST;
	case EXIT_OWN:
		break;
	}
	return r->how == EXIT_BY_CODE ? PROCESS_EXITED : PROCESS_SIGNALLED;
}

static void take_output(const struct run *run, struct attempt_row *a, struct collect_work *w)
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
	if (w->says_no_change)
		a->says_no_change = 1;
	if (r->tokens_of_session)
		budget_take_off(run->rows->attempts, run->rows->nattempts, a);
}

#define NOT_CONFINED "the reviewer was not confined: this kernel has no Landlock; changes of the tree are only noticed afterwards"

/* How far a reviewer that may only read was really held to it. */
static void take_sandbox(struct turn *turn, const struct lane *lane, struct attempt_row *a)
{
	struct run *run = lane->run;
	const char *warnings = run->rows->run.warnings;

	if (!lane_plan(lane)->read_only || lane_plan(lane)->sandbox == SANDBOX_OFF || lane->lost || lane->record.how == EXIT_NOT_STARTED)
		return;
	a->sandbox = lane->record.sandbox > 0 ? xasprintf("landlock %d", lane->record.sandbox) : xstrdup("none");
	if (lane->record.sandbox == 0 && (warnings == NULL || strstr(warnings, NOT_CONFINED) == NULL))
		run_warn(turn, run, NOT_CONFINED);
}

static char *lost_detail(const struct lane *lane)
{
	if (!lane->lost)
		return xasprintf("its supervisor was told to end by process %lld of uid %lld, not by this daemon",
		    (long long)lane->record.sender_pid, (long long)lane->record.sender_uid);
	return xstrdup(lane->lost_detail);
}

/* Takes cause: its service did not let it in. */
static char *with_remedy(char *cause, const char *agent)
{
	const struct agent_preset *preset = agent_preset_find(agent);
	char *text = xasprintf("%s; log in: %s", cause, preset != NULL && preset->login_help != NULL ? preset->login_help :
	    "run the program once as the user of the agents, or let it have its key by env in rld.toml");

	free(cause);
	return text;
}

/* What is known of a failure that the attempt's end does not tell by itself. An output without an end is explained by what stands last on
 * stderr, if anything: of a program that exited with 0 that may be any line. malloc'd; NULL: nothing. */
static char *failure_of(const struct attempt_facts *facts, const struct collect_work *w)
{
	const struct agent_result *r = &w->result;

	if (w->error != NULL)
		return xstrdup(w->error);
	if (w->last_words == NULL || (r->error != NULL && !r->incomplete))
		return xstrdup(r->error);
	if (r->error != NULL && facts->process == PROCESS_EXITED && facts->status == 0)
		return xasprintf("%s; the last line on its standard error is: %s", r->error, w->last_words);
	return xstrdup(w->last_words);
}

#define CONFINED "; its sandbox may have refused that: name the path in writable of [agent.%s] in rld.toml, or set review.read_only = false"

/* A program that was refused a file says so in words of its own, and knows nothing of our sandbox. Takes cause. */
static char *with_sandbox(char *cause, const struct lane *lane, const char *agent)
{
	char *text;

	if (lane->lost || lane->record.sandbox == 0 || cause == NULL ||
	    (strcasestr(cause, "permission denied") == NULL && strstr(cause, "EACCES") == NULL))
		return cause;
	text = xasprintf("%s" CONFINED, cause, agent);
	free(cause);
	return text;
}

static char *cause_of(const struct lane *lane, const struct attempt_facts *facts, struct attempt_limit limit, const struct collect_work *w)
{
	const char *agent = run_attempt(lane->run, w->attempt)->agent;
	char *detail, *safe, *cause, spent[RUN_SPENT_MAX];

	if (facts->process == PROCESS_TIMEOUT && run_is_out_of_time(lane->run)) {
		run_spent(lane->run, spent);
		return xasprintf(RUN_LIMIT "%s", spent);
	}
	if (attempt_is_cut(facts))
		return xasprintf("host: %s", w->error);
	if (facts->host)
		return xasprintf("host: %s; %s", fault_words(lane, w), host_fault_remedy(fault_of(lane, w)));
	if (facts->process == PROCESS_LOST)
		detail = lost_detail(lane);
	else if (lane->record.how == EXIT_NOT_STARTED && strncmp(lane->record.error, "exec ", 5) == 0)
		detail = xasprintf("%s; look at the command of [agent.%s] in rld.toml and at PATH", lane->record.error, agent);
	else if (lane->record.how == EXIT_NOT_STARTED)
		detail = xstrdup(lane->record.error);
	else
		detail = failure_of(facts, w);
	safe = detail != NULL ? strip_line(detail) : NULL;
	cause = attempt_cause(facts, &limit, safe);
	free(safe);
	free(detail);
	cause = with_sandbox(cause, lane, agent);
	return facts->provider == PROVIDER_AUTH ? with_remedy(cause, agent) : cause;
}

static void collect_cb(void *arg, struct work *work);

static struct work *collect_new(const struct lane *lane)
{
	const struct run *run = lane->run;
	const struct attempt_row *a = run_attempt(run, lane->row->attempt);
	struct collect_work *w = xcalloc(1, sizeof(*w));

	w->attempt = a->id;
	w->reader = plan_agent(lane_plan(lane), (enum role)a->role, a->agent)->reader;
	w->secrets = secrets_new(run->rows->run.environment, &run->plan);
	w->disk_bytes = ROW_NONE;
	w->worktree = xstrdup(lane->row->worktree);
	/* slot 0 has no task to give back, and must not pass without a verdict */
	if (sources[run_source(run)].markers && lane->row->slot != 0 && (a->role == ROLE_IMPLEMENT || a->role == ROLE_FIX))
		w->markers = strings_copy(run->plan.stop_markers);
	if (a->role == ROLE_IMPLEMENT)
		w->no_change_markers = strings_copy(run->plan.no_change_markers);
	w->stdout_bytes = lane->record.stdout_bytes;
	w->stderr_bytes = lane->record.stderr_bytes;
	w->dropped = lane->record.dropped;
	w->rebooted = strcmp(a->boot_id, run->engine->ports.boot_id(run->engine->ports.clock_ctx)) != 0;
	w->unasked = lane->record.signalled_ms != 0 ? lane->record.stdout_signalled : UINT64_MAX;
	w->exit_code = lane->lost ? ROW_NONE : ending_code(lane_plan(lane), (enum role)a->role, w->reader, &lane->record);
	if (!lane->lost && lane->record.by == EXIT_TERM && !lane_ending(lane))
		w->refused = (enum provider_result)a->provider;
	w->ended_at = lane->lost || lane->record.ended_ms == 0 ? engine_now(run->engine) : lane->record.ended_ms;
	w->zone = ending_zone(lane_plan(lane), plan_agent(lane_plan(lane), (enum role)a->role, a->agent));
	if (a->role == ROLE_FIX && lane_plan(lane)->fixer == FIXER_CORRECTOR && lane_plan(lane)->review_file != NULL) {
		char *dir = lane_workdir(lane);

		w->review_file = xasprintf("%s/%s", dir, lane_plan(lane)->review_file);
		free(dir);
	}
	return &w->work;
}

static struct attempt_facts facts_of(const struct lane *lane, const struct attempt_row *a, const struct collect_work *w)
{
	const struct run *run = lane->run;
	const struct plan *plan = lane_plan(lane);
	bool has_git = run->rows->run.has_git == 1;

	return (struct attempt_facts){
		.role = (enum role)a->role,
		.process = process_of(lane, w->result.over),
		.status = lane->record.status,
		.is_error = w->result.is_error || w->error != NULL,
		.provider = w->result.provider,
		.transient = w->result.transient,
		.now = engine_now(run->engine),
		.reset_at = w->result.reset_at,
		.account = a->account != NULL,
		.host = (!lane->lost && lane->record.how == EXIT_NOT_STARTED && host_fault(lane->record.status)) || (w->cut && a->role == ROLE_CHECK),
		.cut = w->cut,
		.retries = lane->row->retries,
		.retries_max = plan->retries,
		.resumed = a->resumes != ROW_NONE && attempt_interrupted(lane, a) != NULL,
		.denied = w->result.denials > 0,
		.has_git = has_git,
		.review = plan->review,
		.later = plan->review && plan->scope == SCOPE_RUN && lane->row->slot != 0,
		.stop = w->stop || (lane->row->task == NULL && lane->row->slot != 0),
		.by_status = plan->profile->carrier == CARRIER_EXIT,
		.checkout = lane_has_checkout(lane),
		.checks = plan->review && (plan->scope == SCOPE_TASK || lane->row->slot == 0) ? (int64_t)strings_count(plan->checks) : 0,
		.check = lane->row->check,
		.items_left = review_items_left(lane),
		.on_lost = plan->on_lost,
		.losses = lane->row->interrupted + 1,
	};
}

/* The clock that has ended it, if one has. */
static struct attempt_limit limit_of(const struct lane *lane, enum role role, enum reader_kind reader)
{
	static const enum clock by[] = { [EXIT_WALL] = CLOCK_WALL, [EXIT_IDLE] = CLOCK_IDLE, [EXIT_RESULT] = CLOCK_POST_RESULT, [EXIT_TERM] = CLOCK_WALL };
	const struct clocks *clocks = &lane_plan(lane)->clocks[role];
	enum clock clock = by[lane->record.by];

	return (struct attempt_limit){ clocks->ms[clock], role != ROLE_CHECK && reader_can_tell(reader), clocks_origin(clocks, role, clock) };
}

/* How it ended. unanswered: nothing that it said shows that its service served it. */
static void take_end(const struct lane *lane, struct attempt_row *a, const struct attempt_facts *facts, bool unanswered)
{
	const struct exit_record *r = &lane->record;

	a->state = facts->process == PROCESS_LOST ? ATTEMPT_S_LOST : ATTEMPT_S_EXITED;
	a->process = (int)facts->process;
	a->provider = (int)(facts->provider == PROVIDER_OK && unanswered && !attempt_succeeded(facts) ? PROVIDER_UNKNOWN : facts->provider);
	a->outcome = (int)attempt_outcome(facts);
	a->ended_at = lane->lost || r->ended_ms == 0 ? engine_now(lane->run->engine) : r->ended_ms;
	if (lane->lost)
		return;
	a->exit_code = r->how == EXIT_BY_CODE ? r->status : ROW_NONE;
	a->signal = r->how == EXIT_BY_SIGNAL ? r->status : ROW_NONE;
	a->bytes = (int64_t)(r->stdout_bytes + r->stderr_bytes);
}

static void take_disk(struct turn *turn, const struct lane *lane, const struct collect_work *w)
{
	struct task_row *task = lane_task(lane);

	if (task == NULL || w->disk_bytes == ROW_NONE)
		return;
	task->disk_bytes = w->disk_bytes;
	turn_put(turn, ROW_TASK, task);
}

/* What it said can be neither read nor kept for now: nothing of it is lost. */
static void wait_to_collect(struct lane *lane, const struct collect_work *w)
{
	struct turn *turn = turn_new(lane->run->engine);

	lane_waits(turn, lane, WAIT_HOST, w->work.fault, w->error);
	turn_commit(turn);
	engine_work_later(lane->run->engine, HOST_LOOK_MS, collect_new(lane), WORK_COLLECT, collect_cb, lane);
}

static void collect_cb(void *arg, struct work *work)
{
	struct lane *lane = arg;
	struct run *run = lane->run;
	struct collect_work *w = (struct collect_work *)work;
	struct attempt_row *a = run_attempt(run, w->attempt);
	struct attempt_facts facts = facts_of(lane, a, w);
	enum slot_event event = attempt_classify(&facts);
	struct turn *turn;

	if (run->engine->stopped) {
		work_free(work);
		return;
	}
	if (work->fault != 0 && w->error != NULL && !lane_ending(lane)) {
		wait_to_collect(lane, w);
		work_free(work);
		return;
	}
	turn = turn_new(run->engine);
	lane_wait_over(turn, lane);
	take_output(run, a, w);
	if (facts.role == ROLE_REVIEW)
		take_sandbox(turn, lane, a);
	if (w->review_file != NULL && attempt_succeeded(&facts))
		review_marked(turn, lane, w->marks, w->nmarks);
	take_end(lane, a, &facts, w->result.unanswered && a->role != ROLE_CHECK);
	if (event == SLOT_E_RELEASED && w->stop)
		a->outcome = TASK_R_STOP_MARKER;
	take_disk(turn, lane, w);
	if (attempt_succeeded(&facts))
		account_serves(turn, run->engine, a);
	if (!attempt_succeeded(&facts) || event == SLOT_E_FAILED)
		a->cause = cause_of(lane, &facts, limit_of(lane, facts.role, w->reader), w);
	if (!lane->lost && !lane->record.tree_empty)
		run_warn(turn, run, "an attempt's process tree could not be seen to be empty");
	if (w->doubt != NULL && (run->rows->run.warnings == NULL || strstr(run->rows->run.warnings, w->doubt) == NULL))
		run_warn(turn, run, w->doubt);
	budget_settle(turn, lane, a);
	turn_put(turn, ROW_ATTEMPT, a);
	tell_ended(turn, a);
	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	if (lane_ending(lane))
		lane_ended(turn, lane);
	else
		follow(turn, lane, a, &facts, event, w);
	turn_commit(turn);
	work_free(work);
}

void attempt_collect(struct lane *lane)
{
	engine_work(lane->run->engine, collect_new(lane), WORK_COLLECT, collect_cb, lane);
}

void attempt_ended(struct lane *lane, const struct exit_record *record, const char *detail)
{
	lane->lost = record == NULL;
	lane->record = record != NULL ? *record : (struct exit_record){ 0 };
	text_set(&lane->lost_detail, detail);
	lane->pending = PENDING_WORK;
	if (lane->row->task == NULL && lane->row->slot != 0 && !lane_ending(lane))
		pick_last(lane);
	else
		attempt_collect(lane);
}

void attempt_renumber(struct lane *lane)
{
	struct run *run = lane->run;
	struct attempt_row *a = row_copy(ROW_ATTEMPT, run_attempt(run, lane->id));
	struct turn *turn = turn_new(run->engine);

	turn_drop(turn, ROW_ATTEMPT, a);
	run_rows_drop(run->rows, ROW_ATTEMPT, a);
	a->id = lane->row->attempt = ++run->engine->last_attempt;
	turn_put(turn, ROW_ATTEMPT, a);
	turn_put(turn, ROW_SLOT, lane->row);
	run_rows_put(run->rows, ROW_ATTEMPT, a);
	lane->id = ROW_NONE;
	turn_act(turn, ACT_COMPOSE, run, lane, a->id);
	turn_commit(turn);
}

/* A fault of the host keeps it from being started: it waits for that as for a service. */
static void wait_to_start(struct lane *lane, int fault, const char *error)
{
	struct turn *turn = turn_new(lane->run->engine);

	lane->pending = PENDING_NOTHING;
	lane->id = ROW_NONE;
	lane_waits(turn, lane, WAIT_HOST, fault, error);
	lane->row->retry_at = lane->row->wait_until;
	turn_put(turn, ROW_SLOT, lane->row);
	turn_act(turn, ACT_COMPOSE, lane->run, lane, lane->row->attempt);
	turn_commit(turn);
}

void attempt_refused(struct lane *lane, int status, const char *error)
{
	struct exit_record record = { .how = EXIT_NOT_STARTED, .status = status, .tree_empty = true };

	if (host_fault(status) && !lane_ending(lane)) {
		wait_to_start(lane, status, error);
		return;
	}
	snprintf(record.error, sizeof(record.error), "%s", error != NULL ? error : "unknown error");
	attempt_ended(lane, &record, NULL);
}
