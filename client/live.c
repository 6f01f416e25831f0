/* SPDX-License-Identifier: MIT */
#include "client/live.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/memory.h"
#include "proto/run_class.h"

struct live {
	const struct print *print;
	char state[16];		/* of the run, as last told */
	json_t *phases;		/* slot -> the last phase and round told: several steps of one phase are one line */
	bool passed;		/* the last review passed: said when the slot has, for the tree is still to be pinned */
	bool commit;		/* ... or when it is committed */
	long long round;	/* of the last review */
};

struct live *live_new(const struct print *print, bool commit)
{
	struct live *live = mem_grow(NULL, 1, sizeof *live);

	*live = (struct live){ .print = print, .phases = json_object(), .commit = commit };
	return live;
}

void live_free(struct live *live)
{
	json_decref(live->phases);
	free(live);
}

static void say(const struct live *live, enum paint paint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say_cut(const struct live *live, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct live *live, enum paint paint, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	print_painted(live->print, paint, text);
	fputc('\n', live->print->file);
	free(text);
}

/* What agents wrote gets one line of the terminal; "rlctl review show" has the rest. */
static void say_cut(const struct live *live, const char *fmt, ...)
{
	va_list ap;
	char *text, *line;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	line = print_clip(text, live->print->width);
	say(live, PAINT_NONE, "%s", line);
	free(line);
	free(text);
}

/* "", or ": TEXT" for the first of the keys that is there; the caller frees. */
static char *because(const json_t *event, const char *first, const char *second)
{
	const char *text = field_text(event, first);

	if (*text == '\0' && second != NULL)
		text = field_text(event, second);
	return *text == '\0' ? mem_strdup("") : mem_printf(": %s", text);
}

static long long number(const json_t *event, const char *key)
{
	int64_t n = field_int(event, key);

	return n == FIELD_NONE ? 0 : (long long)n;
}

static void on_run_state(struct live *live, const json_t *event)
{
	const char *state = field_text(event, "state");
	/* a run that is being cancelled has a cause already; what it does now is the reason */
	char *why = because(event, "reason", "cause");

	if (*why != '\0' || strcmp(state, live->state) != 0)
		say(live, print_state_paint(state), "Run %lld %s%s", number(event, "run"), state, why);
	strlcpy(live->state, state, sizeof live->state);
	free(why);
}

/* *from_check: the phase before was that of the checks. */
static bool is_new_phase(struct live *live, const json_t *event, bool *from_check)
{
	char *slot = mem_printf("%lld", number(event, "slot"));
	char *now = mem_printf("%s %lld", field_text(event, "phase"), number(event, "round"));
	const char *before = field_text(live->phases, slot);
	bool told = strcmp(before, now) == 0;

	*from_check = strncmp(before, "checking ", strlen("checking ")) == 0;
	json_object_set_new(live->phases, slot, json_string(now));
	free(slot);
	free(now);
	return !told;
}

/* In the words of requirement 002. */
static void say_passed(struct live *live, bool commit)
{
	say(live, PAINT_GREEN, commit ? "Review passed! Proceeding to commit." : "Review passed!");
	live->passed = false;
}

static void on_slot_phase(struct live *live, const json_t *event)
{
	const char *phase = field_text(event, "phase"), *cause = field_text(event, "cause");
	long long round = number(event, "round"), max = number(event, "max_reviews");
	bool from_check;

	if (!is_new_phase(live, event, &from_check))
		return;
	live->round = round;
	if (strcmp(phase, "checking") == 0) {
		say(live, PAINT_DIM, "Running checks...");
	} else if (strcmp(phase, "fixing") == 0 && from_check) {
		say(live, PAINT_BOLD, "A check failed. Running fixer (fix %lld)...", number(event, "fix"));
	} else if (strcmp(phase, "committing") == 0 && live->passed && live->commit) {
		say_passed(live, true);
	} else if (strcmp(phase, "reviewing") == 0) {
		/* round 0: the tree is looked at for a commit without a review */
		if (round > 0)
			say(live, PAINT_BOLD, "Reviewing changes (iteration %lld/%lld)...", round, max);
	} else if (strcmp(phase, "fixing") == 0) {
		say(live, PAINT_BOLD, "Issues found. Running corrector (iteration %lld/%lld)...", round, max);
	} else if (strcmp(phase, "passed") == 0 && live->passed) {
		say_passed(live, false);
	} else if (strcmp(phase, "failed") == 0) {
		/* a slot that was not reviewed by itself shares the end of the one that was */
		if (round > 0 && cause_is_exhausted(cause))
			say(live, PAINT_RED, "Review failed after %lld iterations.", round);
	} else if (strcmp(phase, "waiting") == 0) {
		char *why = because(event, "reason", "cause");

		if (*why != '\0')
			say(live, print_state_paint(phase), "Slot %lld %s%s", number(event, "slot"), phase, why);
		free(why);
	}
}

static void on_attempt_started(struct live *live, const json_t *event)
{
	say(live, PAINT_DIM, "  %s: %s (attempt %lld/%lld)", field_text(event, "role"), field_text(event, "agent"), number(event, "run"),
		number(event, "number"));
}

/* How a process ended, for a line; the caller frees. */
static char *ending(const json_t *event)
{
	if (field_int(event, "signal") != FIELD_NONE)
		return mem_printf("ended by signal %lld", number(event, "signal"));
	if (field_int(event, "exit_code") == FIELD_NONE)
		return mem_strdup(field_text(event, "state"));
	return number(event, "exit_code") == 0 ? mem_strdup("done") : mem_printf("exit status %lld", number(event, "exit_code"));
}

static void on_attempt_ended(struct live *live, const json_t *event)
{
	char *how = ending(event), *why = because(event, "cause", NULL);
	char *took = print_duration(field_int(event, "wall_ms")), *cost = print_cost(field_real(event, "cost_usd"));
	bool fine = field_int(event, "exit_code") == 0 && *why == '\0';

	say(live, fine ? PAINT_DIM : PAINT_RED, "  %s: %s%s%s%s%s%s", field_text(event, "role"), how, *took != '\0' ? " in " : "", took,
		*cost != '\0' ? ", " : "", cost, why);
	free(how);
	free(why);
	free(took);
	free(cost);
}

static bool is_human(const json_t *event)
{
	return strncmp(field_text(event, "by"), "human:", strlen("human:")) == 0;
}

static void on_review_decided(struct live *live, const json_t *event)
{
	const char *decision = field_text(event, "decision"), *feedback = field_text(event, "feedback");
	bool counted = number(event, "new") + number(event, "repeated") + number(event, "resolved") > 0;

	/* A human's word is told with the hold. */
	live->passed = print_state_paint(decision) == PAINT_GREEN && !is_human(event);
	if (is_human(event))
		return;
	if (counted)
		say(live, print_state_paint(decision), "  %s: %lld new, %lld repeated, %lld resolved", decision, number(event, "new"),
			number(event, "repeated"), number(event, "resolved"));
	else
		say(live, print_state_paint(decision), "  %s", decision);
	/* Findings have events of their own. */
	if (*feedback != '\0' && number(event, "findings") == 0)
		say_cut(live, "    %.*s", (int)strcspn(feedback, "\r\n"), feedback);
}

static void on_review_skipped(struct live *live, const json_t *event)
{
	const char *reason = field_text(event, "reason");

	/* The words of requirement 002, whatever the daemon calls the flag. */
	if (strstr(reason, "skip-review") != NULL || strstr(reason, "skip_review") != NULL)
		reason = "--skip-review flag set";
	say(live, PAINT_DIM, "Skipping review (%s)", reason);
}

static void on_finding(struct live *live, const json_t *event)
{
	const char *file = field_text(event, "file"), *severity = field_text(event, "severity"), *text = field_text(event, "text");
	char *place = field_int(event, "line") == FIELD_NONE ? mem_strdup(file) : mem_printf("%s:%lld", file, number(event, "line"));

	say_cut(live, "    - %s%s%s%s%s%.*s", strcmp(field_text(event, "state"), "resolved") == 0 ? "resolved: " : "", place, *place != '\0' ? " " : "", severity, *severity != '\0' ? ": " : "",
		(int)strcspn(text, "\r\n"), text);
	free(place);
}

static void on_hold_opened(struct live *live, const json_t *event)
{
	char *why = because(event, "reason", NULL);

	if (strcmp(field_text(event, "kind"), "exhausted") == 0)
		say(live, PAINT_RED, "Review failed after %lld iterations.", live->round);
	say(live, PAINT_YELLOW, "Hold %lld waits for a human%s", number(event, "hold"), why);
	free(why);
}

static void on_hold_closed(struct live *live, const json_t *event)
{
	const char *state = field_text(event, "state"), *by = field_text(event, "by");
	char *why = because(event, "message", NULL);

	say_cut(live, "Hold %lld: %s%s%s%.*s", number(event, "hold"), state, *by != '\0' ? " by " : "", by, (int)strcspn(why, "\r\n"), why);
	free(why);
}

static const struct {
	const char *type;
	void (*tell)(struct live *live, const json_t *event);
} tellers[] = {
	{ "run.state", on_run_state },
	{ "slot.phase", on_slot_phase },
	{ "attempt.started", on_attempt_started },
	{ "attempt.ended", on_attempt_ended },
	{ "review.decided", on_review_decided },
	{ "review.skipped", on_review_skipped },
	{ "finding", on_finding },
	{ "hold.opened", on_hold_opened },
	{ "hold.closed", on_hold_closed },
};

void live_event(struct live *live, const json_t *event)
{
	for (size_t i = 0; i < sizeof tellers / sizeof tellers[0]; i++) {
		if (strcmp(tellers[i].type, field_text(event, "type")) == 0)
			tellers[i].tell(live, event);
	}
	fflush(live->print->file);
}
