/* SPDX-License-Identifier: MIT */
#include "client/live.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/budget_text.h"
#include "client/cell.h"
#include "client/field.h"
#include "client/print.h"
#include "client/status_tag.h"
#include "proto/kinds.h"
#include "proto/memory.h"

/* State of a slot. */
struct live_slot {
	int64_t number;
	/* last printed phase and round: several steps of a phase make one line */
	char *phase;
	/* the last phase other than fixing and cooling, which tells what a fix is about; NULL: none
	 * yet */
	char *led;
	char *task;		/* its task, NULL: none yet */
	bool stopped;		/* its last attempt gave a stop marker: the task is given back */
	/* the last review passed: printed when the slot has passed, after the tree is pinned */
	bool passed;
	long long round;	/* of the last review */
	/* maximum number of reviews, for the one that is due but not printed yet; 0: none */
	long long most;
};

struct live {
	const struct print *print;
	char *before;
	char state[16];		/* last printed state of the run */
	bool commit;		/* passed work is committed */
	bool many;		/* lines name slot and task */
	int64_t iterations;	/* maximum, FIELD_NONE: none */
	struct live_slot *slots;
	size_t count;
};

struct live *live_new(const struct print *print, const json_t *run, const char *before)
{
	struct live *live = xreallocarray(NULL, 1, sizeof(*live));

	*live = (struct live){
		.print = print,
		.before = xstrdup(before),
		.commit = field_is(json_object_get(run, "review"), "commit", "auto"),
		.many = *field_text(run, "source") != '\0' && !field_is(run, "source", "prompt"),
		.iterations = field_int(run, "iterations"),
	};
	return live;
}

void live_free(struct live *live)
{
	if (live == NULL)
		return;
	for (size_t i = 0; i < live->count; i++) {
		free(live->slots[i].phase);
		free(live->slots[i].led);
		free(live->slots[i].task);
	}
	free(live->slots);
	free(live->before);
	free(live);
}

/* The slot of an event; the first one if it names none. */
static struct live_slot *slot_of(struct live *live, const json_t *event)
{
	int64_t number = field_int(event, "slot");

	for (size_t i = 0; i < live->count; i++)
		if (live->slots[i].number == number || number == FIELD_NONE)
			return &live->slots[i];
	live->slots = xreallocarray(live->slots, live->count + 1, sizeof(*live->slots));
	live->slots[live->count] = (struct live_slot){ .number = number };
	return &live->slots[live->count++];
}

/* "" means none. */
static void set_text(char **at, const char *text)
{
	text_set(at, *text == '\0' ? NULL : text);
}

static void live_say(const struct live *live, enum paint paint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void say_cut(const struct live *live, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void live_say(const struct live *live, enum paint paint, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	fputs(live->before, live->print->file);
	print_painted(live->print, paint, text);
	fputc('\n', live->print->file);
	free(text);
}

/* Output of agents gets one line of the terminal; "rlctl review show" has all of it. */
static void say_cut(const struct live *live, const char *fmt, ...)
{
	size_t width = live->print->width, taken = strlen(live->before);
	va_list ap;
	char *text, *line;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	line = print_clip(text, width == 0 ? 0 : width > taken ? width - taken : 1);
	live_say(live, PAINT_NONE, "%s", line);
	free(line);
	free(text);
}

static char *live_whose(const struct live *live, const struct live_slot *slot, const char *word);
static void say_of(const struct live *live, const struct live_slot *slot, const char *word,
    enum paint paint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Print a line about a slot, with its name if there are several. */
static void say_of(const struct live *live, const struct live_slot *slot, const char *word,
    enum paint paint, const char *fmt, ...)
{
	char *who = live_whose(live, slot, word), *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	live_say(live, paint, "%s%s", who, text);
	free(text);
	free(who);
}

/* Prefix of a line: "A1 REVIEW x-7: ", or "" if there is only one with a task. The caller
 * frees. */
static char *live_whose(const struct live *live, const struct live_slot *slot, const char *word)
{
	char *name, *text;

	if (!live->many && slot->number != SLOT_BASELINE)
		return xstrdup("");
	name = status_tag_name(slot->number);
	text = xasprintf("%s%s%s%s%s: ", name, *word != '\0' ? " " : "", word,
	    slot->task != NULL && slot->number != 0 ? " " : "",
	    slot->task != NULL && slot->number != 0 ? slot->task : "");
	free(name);
	return text;
}

static void on_run_state(struct live *live, const json_t *event)
{
	const char *state = field_text(event, "state");
	/* a run being cancelled has a cause already; its current activity is in the reason */
	char *why = cell_because(event, "reason", "cause");

	if (*why != '\0' || strcmp(state, live->state) != 0)
		live_say(live, print_state_paint(state), "Run %lld %s%s", field_count(event, "run"), state, why);
	strlcpy(live->state, state, sizeof(live->state));
	free(why);
}

static void on_iteration(struct live *live, const json_t *event)
{
	const char *state = field_is(event, "type", "iteration.ended") ? field_text(event, "state") : "";
	char *most = live->iterations == FIELD_NONE ? xstrdup("") : xasprintf("/%lld", (long long)live->iterations);

	if (live->many)
		live_say(live, *state == '\0' ? PAINT_BOLD : print_state_paint(state),
		    "Iteration %lld%s%s%s", field_count(event, "iteration"), most,
		    *state != '\0' ? " " : "", state);
	free(most);
}

static void on_slot_picked(struct live *live, const json_t *event)
{
	struct live_slot *slot = slot_of(live, event);
	const char *title = field_text(event, "title");
	char *name = status_tag_name(slot->number);

	set_text(&slot->task, field_text(event, "task"));
	say_cut(live, "%s PICK picked %s%s%s", name, field_text(event, "task"), *title != '\0' ? ": " : "", title);
	free(name);
}

static void on_slot_merged(struct live *live, const json_t *event)
{
	struct live_slot *slot = slot_of(live, event);
	char *name = status_tag_name(slot->number);

	live_say(live, PAINT_GREEN, "%s MERGE merged %s as %.12s", name, field_text(event, "task"),
	    field_text(event, "commit"));
	free(name);
}

/* ---- what a slot is at ---- */

/* A phase that a slot has entered. */
struct live_phase {
	struct live *live;
	struct live_slot *slot;
	const json_t *event;
	const char *before;	/* the previous phase, "": none */
};

/* As worded in requirement 002. */
static void say_passed(struct live *live, struct live_slot *slot, bool commit)
{
	say_of(live, slot, commit ? "COMMIT" : "PASSED", PAINT_GREEN,
	    commit ? "Review passed! Proceeding to commit." : "Review passed!");
	slot->passed = false;
}

static void on_implementing(const struct live_phase *t)
{
	if (t->live->many)
		say_of(t->live, t->slot, "START", PAINT_BOLD, "implementing");
}

/* A room is set up again for each tree: told once. */
static void on_setting_up(const struct live_phase *t)
{
	if (t->slot->round == 0)
		say_of(t->live, t->slot, "SETUP", PAINT_DIM, "Setting up...");
}

static void on_checking(const struct live_phase *t)
{
	say_of(t->live, t->slot, "CHECK", PAINT_DIM, "Running checks...");
}

/* The tree is measured first; there may be nothing to review. */
static void on_reviewing(const struct live_phase *t)
{
	/* round 0: for a commit without a review */
	t->slot->most = t->slot->round > 0 ? field_count(t->event, "max_reviews") : 0;
}

/* A reviewer has started, or there is a message about one. */
static void say_reviewing(struct live *live, struct live_slot *slot)
{
	if (slot->most > 0)
		say_of(live, slot, "REVIEW", PAINT_BOLD,
		    "Reviewing changes (iteration %lld/%lld)...", slot->round, slot->most);
	slot->most = 0;
}

static void on_fixing(const struct live_phase *t)
{
	long long fix = field_count(t->event, "fix");
	char *word = xasprintf("FIX %lld", fix), *why = cell_because(t->event, "obstacle", "");

	for (char *p = strchr(why, '\n'); p != NULL; p = strchr(p, '\n'))
		*p = ' ';
	if (strncmp(t->before, "checking ", strlen("checking ")) == 0)
		say_of(t->live, t->slot, word, PAINT_BOLD, "A check failed. Running fixer (fix %lld)...", fix);
	else if (*why != '\0')
		say_of(t->live, t->slot, word, PAINT_BOLD,
		    "The result cannot be committed or merged yet. Running fixer (fix %lld)%s", fix,
		    why);
	else
		say_of(t->live, t->slot, word, PAINT_BOLD,
		    "Issues found. Running corrector (iteration %lld/%lld)...", t->slot->round,
		    field_count(t->event, "max_reviews"));
	free(why);
	free(word);
}

static void on_committing(const struct live_phase *t)
{
	if (t->slot->passed && t->live->commit)
		say_passed(t->live, t->slot, true);
}

/* With the reason, which says why there was no review, or who accepted it. If the agent found
 * nothing left to do, the slot is done, not the task. */
static void on_passed(const struct live_phase *t)
{
	char *why = cell_because(t->event, "cause", "reason");

	if (t->slot->stopped)
		say_of(t->live, t->slot, "STOPPED", PAINT_YELLOW, "%s", field_text(t->event, "reason"));
	else if (t->slot->passed)
		say_passed(t->live, t->slot, false);
	else if (t->live->many)
		say_of(t->live, t->slot, "PASSED", PAINT_GREEN, "passed%s", why);
	free(why);
}

static void on_failed(const struct live_phase *t)
{
	char *why = cell_because(t->event, "cause", "");

	/* a slot without a review of its own shares the end of the reviewed one */
	if (t->slot->round > 0 && field_end_kind(t->event) == END_EXHAUSTED)
		say_of(t->live, t->slot, "FAILED", PAINT_RED, "Review failed after %lld iterations.", t->slot->round);
	else if (t->live->many)
		say_of(t->live, t->slot, "FAILED", PAINT_RED, "failed%s", why);
	free(why);
}

static void on_waiting(const struct live_phase *t)
{
	char *why = cell_because(t->event, "reason", "cause"), *name = status_tag_name(t->slot->number);

	if (*why != '\0' && t->live->many)
		live_say(t->live, print_state_paint("waiting"), "%s WAIT%s", name, why);
	else if (*why != '\0')
		live_say(t->live, print_state_paint("waiting"), "Slot %lld waiting%s", (long long)t->slot->number, why);
	free(why);
	free(name);
}

/* An exhausted account, or a failed service: uses no round and no fix. */
static void on_cooling(const struct live_phase *t)
{
	char *why = cell_because(t->event, "reason", "cause"), *name = status_tag_name(t->slot->number);

	if (t->live->many)
		live_say(t->live, PAINT_YELLOW, "%s COOLING%s", name, why);
	else
		live_say(t->live, PAINT_YELLOW, "Cooling%s", why);
	free(why);
	free(name);
}

static const struct {
	const char *phase;
	void (*tell)(const struct live_phase *t);
} phases[] = {
	{ "waiting", on_waiting },
	{ "implementing", on_implementing },
	{ "setting-up", on_setting_up },
	{ "checking", on_checking },
	{ "reviewing", on_reviewing },
	{ "fixing", on_fixing },
	{ "committing", on_committing },
	{ "cooling", on_cooling },
	{ "passed", on_passed },
	{ "failed", on_failed },
};

static void on_slot_phase(struct live *live, const json_t *event)
{
	struct live_slot *slot = slot_of(live, event);
	const char *name = field_text(event, "phase");
	char *phase = xasprintf("%s %lld %s", name, field_count(event, "round"), field_text(event, "task"));
	bool again = slot->phase != NULL && strcmp(slot->phase, phase) == 0;

	set_text(&slot->phase, phase);
	set_text(&slot->task, field_text(event, "task"));
	slot->round = field_count(event, "round");
	for (size_t i = 0; !again && i < ARRAY_SIZE(phases); i++)
		if (strcmp(phases[i].phase, name) == 0)
			phases[i].tell(&(struct live_phase){ live, slot, event, slot->led != NULL ? slot->led : "" });
	if (strcmp(name, "fixing") != 0 && strcmp(name, "cooling") != 0)
		set_text(&slot->led, phase);
	free(phase);
}

/* ---- attempts ---- */

/* "A1 " if there are several slots. The caller frees. */
static char *slot_name(struct live *live, const json_t *event)
{
	char *name, *text;

	if ((!live->many && field_int(event, "slot") != SLOT_BASELINE) || field_int(event, "slot") == FIELD_NONE)
		return xstrdup("");
	name = status_tag_name(field_int(event, "slot"));
	text = xasprintf("%s ", name);
	free(name);
	return text;
}

static bool is_review(const json_t *event)
{
	return field_is(event, "role", "review");
}

static void on_attempt_started(struct live *live, const json_t *event)
{
	char *name = slot_name(live, event);

	if (is_review(event))
		say_reviewing(live, slot_of(live, event));
	live_say(live, PAINT_DIM, "  %s%s: %s (attempt %lld/%lld)", name, field_text(event, "role"),
	    field_text(event, "agent"), field_count(event, "run"), field_count(event, "number"));
	free(name);
}

static bool is_no_success(const json_t *event)
{
	const char *outcome = field_text(event, "outcome");

	return strcmp(outcome, "failed") == 0 || strcmp(outcome, "denied") == 0;
}

/* Whether the attempt's work changes the tree. */
static bool live_changes_tree(const json_t *event)
{
	const char *role = field_text(event, "role");

	return strcmp(role, "implement") == 0 || strcmp(role, "fix") == 0;
}

/* How a process ended, for a line; the caller frees. */
static char *live_ending(const json_t *event)
{
	if (field_int(event, "signal") != FIELD_NONE)
		return xasprintf("ended by signal %lld", field_count(event, "signal"));
	if (field_is(event, "process", "not-started"))
		return xstrdup("not started");
	if (field_int(event, "exit_code") == FIELD_NONE)
		return xstrdup(field_text(event, "state"));
	if (field_count(event, "exit_code") != 0)
		return xasprintf("exit status %lld", field_count(event, "exit_code"));
	/* an exit status of 0 alone is no success, and the changes are examined later */
	return xstrdup(is_no_success(event) ? field_text(event, "outcome")
	        : live_changes_tree(event)  ? "ended"
	                                    : "done");
}

static void on_attempt_ended(struct live *live, const json_t *event)
{
	char *how = live_ending(event), *why = cell_because(event, "cause", "");
	char *took = cell_duration(event, "wall_ms"), *cost = cell_cost(event, "cost_usd");
	char *name = slot_name(live, event);
	bool fine = field_int(event, "exit_code") == 0 && !is_no_success(event) && *why == '\0';

	if (field_int(event, "slot") != FIELD_NONE)
		slot_of(live, event)->stopped = field_is(event, "outcome", "stop-marker");
	/* an attempt that did not start has no other event */
	if (is_review(event))
		say_reviewing(live, slot_of(live, event));
	live_say(live, fine ? PAINT_DIM : PAINT_RED, "  %s%s: %s%s%s%s%s%s", name,
	    field_text(event, "role"), how, *took != '\0' ? " in " : "", took,
	    *cost != '\0' ? ", " : "", cost, why);
	free(name);
	free(how);
	free(why);
	free(took);
	free(cost);
}

/* ---- reviews and holds ---- */

static bool is_human(const json_t *event)
{
	return strncmp(field_text(event, "by"), "human:", strlen("human:")) == 0;
}

static void on_review_decided(struct live *live, const json_t *event)
{
	const char *decision = field_text(event, "decision"), *feedback = field_text(event, "feedback");
	long long dismissed = field_count(event, "dismissed");
	bool counted = field_count(event, "new") + field_count(event, "repeated") + field_count(event, "resolved") +
	    dismissed > 0;
	struct live_slot *slot = slot_of(live, event);
	char *name;

	/* A human decision is printed with the hold. */
	slot->passed = print_state_paint(decision) == PAINT_GREEN && !is_human(event);
	if (is_human(event))
		return;
	/* a client that joined in the middle has not seen it with the phase */
	slot->round = field_count(event, "round");
	name = slot_name(live, event);
	if (counted)
		live_say(live, print_state_paint(decision), "  %s%s: %lld new, %lld repeated, %lld resolved%s%.0lld",
		    name, decision, field_count(event, "new"), field_count(event, "repeated"),
		    field_count(event, "resolved"), dismissed > 0 ? ", dismissed: " : "", dismissed);
	else
		live_say(live, print_state_paint(decision), "  %s%s", name, decision);
	free(name);
	/* findings have their own events */
	if (*feedback != '\0' && field_count(event, "findings") == 0)
		say_cut(live, "    %.*s", (int)strcspn(feedback, "\r\n"), feedback);
}

static void on_review_voted(struct live *live, const json_t *event)
{
	say_of(live, slot_of(live, event), "  ", print_state_paint(field_text(event, "decision")), "%s votes %s",
	    field_text(event, "reviewer"), field_text(event, "decision"));
}

static void on_check_reused(struct live *live, const json_t *event)
{
	say_of(live, slot_of(live, event), "  ", PAINT_DIM, "check %s: green on this tree in attempt %lld/%lld",
	    field_text(event, "command"), field_count(event, "from_run"), field_count(event, "from_attempt"));
}

static void on_review_asked(struct live *live, const json_t *event)
{
	say_of(live, slot_of(live, event), "  ", PAINT_DIM, "no valid answer, asking %s once more: %s",
	    field_text(event, "by"), field_text(event, "reason"));
}

static void on_review_skipped(struct live *live, const json_t *event)
{
	bool flag = field_is(event, "skip_kind", state_name(&skip_kind_names, SKIP_FLAG));
	/* as worded in requirement 002, whatever the daemon calls the option */
	const char *reason = flag ? "--skip-review flag set" : field_text(event, "reason");

	say_of(live, slot_of(live, event), "", PAINT_DIM, "Skipping review (%s)", reason);
}

static void on_finding(struct live *live, const json_t *event)
{
	char *finding = cell_finding(event, NULL);

	say_cut(live, "    - %s", finding);
	if (field_is(event, "state", "disputed"))
		say_cut(live, "      %s says: %s", field_text(event, "by"), field_text(event, "reason"));
	free(finding);
}

static void on_finding_dismissed(struct live *live, const json_t *event)
{
	const char *text = field_text(event, "text");

	say_cut(live, "    - dismissed by %s: %.*s", field_text(event, "by"), (int)strcspn(text, "\r\n"), text);
}

static void on_hold_opened(struct live *live, const json_t *event)
{
	struct live_slot *slot = slot_of(live, event);
	char *why = cell_because(event, "reason", "");

	if (field_is(event, "kind", "exhausted"))
		say_of(live, slot, "HELD", PAINT_RED, "Review failed after %lld iterations.", slot->round);
	say_of(live, slot, "HELD", PAINT_YELLOW, "Hold %lld needs a decision%s", field_count(event, "hold"), why);
	free(why);
}

static void on_hold_closed(struct live *live, const json_t *event)
{
	const char *state = field_text(event, "state"), *by = field_text(event, "by");
	char *why = cell_because(event, "message", "");

	say_cut(live, "Hold %lld: %s%s%s%.*s", field_count(event, "hold"), state,
	    *by != '\0' ? " by " : "", by, (int)strcspn(why, "\r\n"), why);
	free(why);
}

static void on_budget(struct live *live, const json_t *event)
{
	char *text = budget_told(event);

	live_say(live, PAINT_YELLOW, "Budget: %s", text);
	free(text);
}

static const struct {
	const char *type;
	void (*tell)(struct live *live, const json_t *event);
} tellers[] = {
	{ "run.state", on_run_state },
	{ "iteration.started", on_iteration },
	{ "iteration.ended", on_iteration },
	{ "slot.phase", on_slot_phase },
	{ "slot.picked", on_slot_picked },
	{ "slot.merged", on_slot_merged },
	{ "attempt.started", on_attempt_started },
	{ "attempt.ended", on_attempt_ended },
	{ "review.decided", on_review_decided },
	{ "review.voted", on_review_voted },
	{ "check.reused", on_check_reused },
	{ "review.asked", on_review_asked },
	{ "review.skipped", on_review_skipped },
	{ "finding", on_finding }, { "finding.dismissed", on_finding_dismissed },
	{ "hold.opened", on_hold_opened },
	{ "hold.closed", on_hold_closed },
	{ "budget", on_budget },
};

void live_event(struct live *live, const json_t *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(tellers); i++)
		if (strcmp(tellers[i].type, field_text(event, "type")) == 0)
			tellers[i].tell(live, event);
	fflush(live->print->file);
}
