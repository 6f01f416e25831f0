/* SPDX-License-Identifier: MIT */
/* The live view without a terminal: tags, blocks, tables at several sizes, and what never
 * reaches a screen. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "client/field.h"
#include "client/run_line.h"
#include "client/screen.h"
#include "client/status_tag.h"
#include "proto/clock.h"
#include "proto/escape.h"
#include "proto/units.h"

/* Documents as the daemon gives them, with ' for ". */
static json_t *document(const char *text)
{
	char *copy = strdup(text);
	json_error_t error;
	json_t *json;

	for (char *p = copy; *p != '\0'; p++) {
		if (*p == '\'')
			*p = '"';
	}
	json = json_loads(copy, 0, &error);
	if (json == NULL)
		ck_abort_msg("%s at %d: %s", error.text, error.position,
		    copy + (error.position > 20 ? error.position - 20 : 0));
	free(copy);
	return json;
}

#define NOW "2026-11-21T22:10:00.000Z"

static int64_t at(const char *time)
{
	int64_t ms;

	ck_assert_int_eq(time_parse(time, &ms), 0);
	return ms;
}

/* ---- tags ---- */

#define RUN "'id': 42, 'state': 'running', 'source': 'beads'"
#define AGENT "'id': 42, 'state': 'running', 'source': 'beads', 'assign': 'agent'"
#define STARTING "{'role': 'implement', 'state': 'starting'}"
#define RUNNING "{'role': 'implement', 'state': 'running'}"

static const struct {
	const char *run, *slot, *attempt;
	int64_t events;
	const char *word, *text;
} tags[] = {
	{ RUN, "'slot': 1, 'phase': 'reviewing', 'round': 2, 'task': 'x-7'",
	    "{'role': 'review', 'state': 'running'}", 9, "REVIEW", "reviewing x-7" },
	{ RUN, "'slot': 1, 'phase': 'fixing', 'round': 2, 'fix': 2, 'task': 'x-7'",
	    "{'role': 'fix', 'state': 'running'}", 9, "FIX", "fix attempt 2 for x-7" },
	{ RUN, "'slot': 0, 'phase': 'reviewing', 'round': 1, 'task': 'x-9'", NULL, 0, "REVIEW",
	    "reviewing the whole run" },
	{ RUN, "'slot': 0, 'phase': 'fixing', 'round': 1, 'fix': 1, 'task': 'x-9'", NULL, 0, "FIX",
	    "fix attempt 1 for the whole run" },
	{ RUN, "'slot': 1, 'phase': 'reviewing', 'round': 0, 'task': 'x-7'", NULL, 0, "COMMIT", "committing x-7" },
	{ RUN, "'slot': 1, 'phase': 'checking', 'check': 2, 'task': 'x-7'",
	  "{'role': 'check', 'agent': 'make test', 'state': 'running'}", 3, "CHECK",
	  "check 2 for x-7: make test" },
	{ RUN, "'slot': 1, 'phase': 'committing', 'task': 'x-7'", NULL, 0, "COMMIT", "committing x-7" },
	{ RUN ", 'result_branch': 'rl/42'", "'slot': 1, 'phase': 'committing', 'task': 'x-7'", NULL,
	    0, "COMMIT", "committing x-7" },
	{ RUN ", 'result_branch': 'rl/42'",
	    "'slot': 1, 'phase': 'committing', 'commit': 'c0ffee', 'task': 'x-7'", NULL, 0, "MERGE",
	    "merging x-7" },
	{ RUN, "'slot': 1, 'phase': 'held', 'task': 'x-7', 'cause': 'stalled: 2 rounds'", NULL, 0,
	    "HELD", "stalled: 2 rounds" },
	{ RUN, "'slot': 1, 'phase': 'cooling', 'reason': 'anthropic until 23:00'", NULL, 0,
	    "COOLING", "anthropic until 23:00" },
	{ RUN, "'slot': 1, 'phase': 'passed', 'reason': 'not reviewed: off'", NULL, 0, "PASSED", "not reviewed: off" },
	{ RUN, "'slot': 1, 'phase': 'passed', 'reason': 'given back: x'",
	    "{'outcome': 'stop-marker'}", 0, "STOPPED", "given back: x" },
	{ RUN, "'slot': 1, 'phase': 'passed'", "{'outcome': 'done'}", 0, "PASSED", "" },
	{ RUN, "'slot': 1, 'phase': 'failed', 'reason': 'r', 'cause': 'drift unresolved after 5 "
	  "fix attempt(s)'", NULL, 0, "FAILED", "drift unresolved after 5 fix attempt(s)" },
	{ RUN, "'slot': 1, 'phase': 'cancelled', 'cause': 'cancelled'", NULL, 0, "CANCELLED", "cancelled" },
	{ RUN, "'slot': 1, 'phase': 'implementing', 'task': 'x-7'", RUNNING, 12, "EVENTS", "working on x-7" },
	{ RUN, "'slot': 1, 'phase': 'implementing', 'task': 'x-7'", RUNNING, 0, "RUN", "working on x-7" },
	{ RUN, "'slot': 1, 'phase': 'implementing', 'task': 'x-7'", STARTING, 0, "SPAWN", "launching for x-7" },
	{ RUN, "'slot': 1, 'phase': 'implementing', 'task': 'x-7'", NULL, 0, "SPAWN", "launching for x-7" },
	{ RUN, "'slot': 1, 'phase': 'waiting', 'task': 'x-7'", NULL, 0, "WAIT", "preparing x-7" },
	{ RUN, "'slot': 1, 'phase': 'waiting', 'task': 'x-7', 'attempt': 9, 'answer': 9", NULL, 0, "WAIT",
	  "implemented x-7, waiting for the review of the whole run" },
	{ RUN, "'slot': 1, 'phase': 'waiting', 'reason': 'less than 1 GiB is free'", NULL, 0,
	    "WAIT", "less than 1 GiB is free" },
	{ "'id': 42, 'state': 'running', 'reason': 'all slots of the daemon are in use', "
	  "'wait_kind': 'permit'", "'slot': 1, 'phase': 'waiting'", NULL, 0, "QUEUED",
	  "all slots of the daemon are in use" },
	{ "'id': 42, 'state': 'queued', 'reason': 'waits for run 2'",
	    "'slot': 1, 'phase': 'waiting'", NULL, 0, "QUEUED", "waits for run 2" },
	{ "'id': 42, 'state': 'paused'", "'slot': 1, 'phase': 'waiting', 'task': 'x-7'", NULL, 0, "PAUSED", "" },
	{ "'id': 42, 'state': 'queued', 'paused': true", "'slot': 1, 'phase': 'waiting'", NULL, 0, "PAUSED", "" },
	/* a pause ends nothing that runs */
	{ "'id': 42, 'state': 'paused'", "'slot': 1, 'phase': 'reviewing', 'round': 1, 'task': 'x-7'",
	    NULL, 0, "REVIEW", "reviewing x-7" },
	/* agents that pick: one starts after the other */
	{ AGENT, "'slot': 1, 'phase': 'implementing'", RUNNING, 1, "EVENTS", "picking a bead" },
	{ AGENT ", 'slots': [{'slot': 1, 'phase': 'implementing'}]",
	  "'slot': 2, 'phase': 'waiting', 'reason': 'those before it'", NULL, 0, "WAIT",
	  "waiting to spawn until A1 picked a bead" },
	{ AGENT ", 'slots': [{'slot': 1, 'phase': 'passed'}, {'slot': 2, 'phase': 'fixing', "
	  "'task': 'x-1'}, {'slot': 3, 'phase': 'implementing'},"
	  "{'slot': 4, 'phase': 'waiting'}, {'slot': 5, 'phase': 'waiting'}]",
	  "'slot': 5, 'phase': 'waiting'", NULL, 0, "WAIT",
	  "waiting to spawn until A3 picked a bead" },
	{ AGENT ", 'slots': [{'slot': 1, 'phase': 'passed'}]",
	  "'slot': 2, 'phase': 'waiting', 'reason': 'less than 1 GiB is free'", NULL, 0, "WAIT",
	  "less than 1 GiB is free" },
	{ RUN ", 'slots': [{'slot': 1, 'phase': 'implementing'}]", "'slot': 2, 'phase': 'waiting'",
	    NULL, 0, "WAIT", "" },
	{ AGENT ", 'slots': [{'slot': 1, 'phase': 'implementing', 'task': 'x-7'}]",
	  "'slot': 2, 'phase': 'implementing'", STARTING, 0, "SPAWN",
	  "launching after A1 picked x-7" },
};

START_TEST(status_tag_table)
{
	char *run_text, *slot_text;
	json_t *run, *slot, *attempt = tags[_i].attempt == NULL ? NULL : document(tags[_i].attempt);
	struct status_tag tag;

	ck_assert_int_ne(asprintf(&run_text, "{%s}", tags[_i].run), -1);
	ck_assert_int_ne(asprintf(&slot_text, "{%s}", tags[_i].slot), -1);
	run = document(run_text);
	slot = document(slot_text);
	status_tag_of(run, slot, attempt, tags[_i].events, &tag);
	ck_assert_str_eq(tag.word, tags[_i].word);
	ck_assert_str_eq(tag.text, tags[_i].text);
	ck_assert_int_eq(tag.number, strcmp(tag.word, "EVENTS") == 0 ? tags[_i].events : FIELD_NONE);
	status_tag_release(&tag);
	json_decref(run);
	json_decref(slot);
	json_decref(attempt);
	free(run_text);
	free(slot_text);
}
END_TEST

/* ---- scenes ---- */

struct scene {
	const char *run, *attempts, *previews, *reviews, *last;
	struct screen_choice choice;
};

static struct lines rendered(const struct scene *scene, size_t width, size_t height, bool color)
{
	json_t *run = document(scene->run), *attempts = scene->attempts == NULL ? NULL : document(scene->attempts);
	json_t *previews = scene->previews == NULL ? NULL : document(scene->previews);
	json_t *reviews = scene->reviews == NULL ? NULL : document(scene->reviews);
	struct view s = { run, attempts, previews, reviews, scene->last, at(NOW), "q quit  ? help" };
	struct screen_choice choice = scene->choice;
	struct lines l;

	lines_init(&l, width, color);
	screen_follow(&choice, run);
	screen_run(&l, &s, &choice, height);
	json_decref(run);
	json_decref(attempts);
	json_decref(previews);
	json_decref(reviews);
	return l;
}

/* The lines that are wanted, joined; blank ones at the end of the body count as well. */
static void expect(const struct scene *scene, size_t width, size_t height, const char *const *wanted)
{
	struct lines l = rendered(scene, width, height, false);

	ck_assert_uint_eq(l.count, height);
	for (size_t i = 0; i < height; i++)
		ck_assert_str_eq(l.line[i], wanted[i]);
	lines_release(&l);
}

static const struct scene one = {
	.run = "{'id': 3, 'state': 'running', 'source': 'prompt', 'iteration': 1, 'iterations': "
	       "null, 'started_at': '2026-11-21T22:08:55.000Z',"
	       "'history': [{'number': 1, 'state': 'running'}], 'totals': {'tokens': null, 'cost_usd': null},"
	       "'tasks': [{'id': 't1', 'title': 'mend the parser', 'state': 'claimed'}],"
	       "'slots': [{'slot': 1, 'phase': 'implementing', 'task': 't1', 'attempt': 5, "
	       "'round': 0, 'fix': 0, 'fixes': 5}]}",
	.attempts = "[{'id': 5, 'iteration': 1, 'slot': 1, 'role': 'implement', 'agent': 'claude', "
	    "'state': 'running', 'started_at': '2026-11-21T22:09:00.000Z'}]",
	.previews = "{'5': {'lines': ['I look at it.', 'Bash: make test', 'two tests fail'], "
	    "'updated_at': '2026-11-21T22:09:48.000Z', 'events': 7}}",
	.last = "implement: claude (attempt 3/1)",
};

START_TEST(one_slot)
{
	expect(&one, 80, 12, (const char *const[]){
		"Run 3  running  prompt  0/1 done  1m 05s",
		"  A1 EVENTS 7  working on t1  claude  updated 12s ago",
		"    t1  mend the parser",
		"    | I look at it.",
		"    | Bash: make test",
		"    | two tests fail",
		"", "", "", "",
		"implement: claude (attempt 3/1)",
		"q quit  ? help",
	});
}
END_TEST

#define TITLE \
	"a title of a task that goes on and on until it is wider than any screen that a person " \
	    "has, and then a bit more of it, " \
	"so that even two hundred columns are not enough for all of its many words"
#define NIGHT_TASKS \
	"'tasks': [{'id': 'x-1', 'title': 'first', 'state': 'passed'}, {'id': 'x-2', 'title': " \
	    "'second', 'state': 'failed'}," \
	"{'id': 'x-7', 'title': '" TITLE "', 'state': 'claimed'}, {'id': 'x-8', 'title': " \
	    "'\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97', " \
	    "'state': 'claimed'}," \
	"{'id': 'x-9', 'title': 'cafe\xcc\x81', 'state': 'claimed'}, {'id': 'x-10', 'title': " \
	    "'tenth', 'state': 'open'}, {'id': 'x-0', 'title': 'zero', 'state': 'done'}]"

static const struct scene night = {
	.run = "{'id': 42, 'state': 'running', 'source': 'beads', 'iteration': 2, 'iterations': 5, "
	       "'started_at': '2026-11-21T20:07:00.000Z',"
	       "'history': [{'number': 1, 'state': 'failed'}, {'number': 2, 'state': 'running'}],"
	       "'totals': {'tokens': 12345, 'cost_usd': 1.5}, 'holds': [{'id': 1}], " NIGHT_TASKS ","
	       "'slots': [{'slot': 1, 'phase': 'reviewing', 'task': 'x-7', 'attempt': 15, 'round': "
	       "2, 'fix': 1, 'fixes': 5},{'slot': 2, 'phase': 'implementing', 'task': 'x-8', "
	       "'attempt': 16, 'round': 0, 'fix': 0, 'fixes': 5},"
	       "{'slot': 3, 'phase': 'held', 'task': 'x-9', 'attempt': 14, 'round': 6, 'fix': 5, "
	       "'fixes': 5, 'cause': 'drift unresolved after 5 fix attempt(s)'},{'slot': 4, 'phase': "
	       "'waiting', 'task': null, 'attempt': null, 'round': 0, 'fix': 0, 'fixes': 5}]}",
	.attempts = "[{'id': 9, 'iteration': 1, 'slot': 2, 'role': 'implement', 'agent': 'claude', 'state': 'lost'},"
		    "{'id': 10, 'iteration': 1, 'slot': 2, 'role': 'implement', 'agent': 'claude', 'state': 'exited'},"
		    "{'id': 14, 'iteration': 2, 'slot': 3, 'role': 'review', 'agent': 'codex', 'state': 'exited'},"
		    "{'id': 15, 'iteration': 2, 'slot': 1, 'role': 'review', 'agent': 'codex', "
		    "'state': 'running', 'started_at': '2026-11-21T22:09:00.000Z'},"
		    "{'id': 16, 'iteration': 2, 'slot': 2, 'role': 'implement', 'agent': 'claude', "
		    "'state': 'running', 'started_at': '2026-11-21T22:09:00.000Z'}]",
	.previews = "{'15': {'lines': ['reading'], 'updated_at': '2026-11-21T22:09:59.500Z', 'events': 1},"
		    "'16': {'lines': ['one', 'two', '\xe6\xbc\xa2\xe5\xad\x97'], 'updated_at': null, 'events': 3}}",
	.reviews = "[{'task_id': 'x-1', 'iteration': 1, 'reviewer_agent': 'codex', 'decision': "
	    "'pass', 'feedback': 'fine', 'findings': []},"
		   "{'task_id': 'x-7', 'iteration': 1, 'reviewer_agent': 'codex', 'decision': "
		   "'drift', 'feedback': 'two things\\nand more',"
		   "'findings': [{'file': 'a.c', 'line': 12, 'severity': 'must-fix', 'text': "
		   "'off by one', 'state': 'new'},{'file': null, 'line': null, 'severity': null, "
		   "'text': 'no test', 'state': 'repeated'}]}]",
	.last = "A1 x-7: Reviewing changes (iteration 2/6)...",
};

START_TEST(four_slots_80x24)
{
	expect(&night, 80, 24, (const char *const[]){
		"Run 42  running  beads  iteration 2/5  1/6 done, 1 failed, 1 held  12.3k tokens",
		"$1.50  2h 03m",
		"iterations: 1 failed, 1 retry | 2 running",
		"> A1 REVIEW  reviewing x-7  codex  round 2/6  updated 0s ago",
		"    x-7  a title of a task that goes on and on until it is wider than any scree\xe2\x80\xa6",
		"    review 1 by codex: drift, 2 findings",
		"    two things",
		"    - a.c:12 must-fix: off by one",
		"    - repeated: no test",
		"  A2 EVENTS 3  working on x-8  claude  started 1m 00s ago",
		"    x-8  \xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97",
		"    | one",
		"    | two",
		"    | \xe6\xbc\xa2\xe5\xad\x97",
		"  A3 HELD  drift unresolved after 5 fix attempt(s)  codex  round 6/6",
		"    x-9  cafe\xcc\x81",
		"  A4 WAIT",
		"", "", "", "", "",
		"A1 x-7: Reviewing changes (iteration 2/6)...",
		"q quit  ? help",
	});
}
END_TEST

START_TEST(four_slots_40x10)
{
	expect(&night, 40, 10, (const char *const[]){
		"Run 42  running  beads  iteration 2/5",
		"1/6 done, 1 failed, 1 held  12.3k tokens",
		"$1.50  2h 03m",
		"iterations: \xe2\x80\xa6 2 running",
		"> A1 REVIEW  reviewing x-7  codex  roun\xe2\x80\xa6",
		"  A2 EVENTS 3  working on x-8  claude  \xe2\x80\xa6",
		"  A3 HELD  drift unresolved after 5 fix\xe2\x80\xa6",
		"  A4 WAIT",
		"A1 x-7: Reviewing changes (iteration 2/\xe2\x80\xa6",
		"q quit  ? help",
	});
}
END_TEST

START_TEST(four_slots_200x60)
{
	struct lines l = rendered(&night, 200, 60, false);

	ck_assert_uint_eq(l.count, 60);
	ck_assert_str_eq(l.line[0], "Run 42  running  beads  iteration 2/5  1/6 done, 1 failed, "
	    "1 held  12.3k tokens  $1.50  2h 03m");
	ck_assert_uint_le(text_width(l.line[3]), 200);
	ck_assert_ptr_nonnull(strstr(l.line[3], "even two hundred columns are not enough for all of its many words"));
	ck_assert_str_eq(l.line[58], "A1 x-7: Reviewing changes (iteration 2/6)...");
	lines_release(&l);
}
END_TEST

/* Nothing of an attempt that is over stays in the block of its slot, and no tag of a review. */
START_TEST(ended)
{
	static const struct scene scene = {
		.run = "{'id': 3, 'state': 'failed', 'source': 'prompt', 'cause': 'drift unresolved "
		       "after 1 fix attempt(s)', 'started_at': '2026-11-21T22:00:00.000Z',"
		       "'ended_at': '2026-11-21T22:01:00.000Z', 'tasks': [{'id': 't1', 'title': "
		       "'mend', 'state': 'failed'}],"
		       "'slots': [{'slot': 1, 'phase': 'failed', 'task': 't1', 'attempt': 5, 'round': 2, "
		       "'fix': 1, 'fixes': 1, 'cause': 'drift unresolved after 1 fix attempt(s)'}]}",
		.attempts = "[{'id': 5, 'slot': 1, 'role': 'review', 'agent': 'claude', 'state': "
		    "'exited', 'started_at': '2026-11-21T22:00:30.000Z'}]",
		.previews = "{'5': {'lines': ['drift'], 'updated_at': '2026-11-21T22:00:59.000Z', 'events': 1}}",
		.last = "Run 3 failed",
	};

	expect(&scene, 80, 8, (const char *const[]){
		"Run 3  failed  prompt  0/1 done, 1 failed  1m 00s",
		"drift unresolved after 1 fix attempt(s)",
		"  A1 FAILED  drift unresolved after 1 fix attempt(s)  round 2/2",
		"    t1  mend",
		"", "",
		"Run 3 failed",
		"q quit  ? help",
	});
}
END_TEST

/* A pause between iterations is counted down. */
START_TEST(next_try)
{
	static const struct scene scene = {
		.run = "{'id': 3, 'state': 'running', 'source': 'beads', 'iteration': 1, 'iterations': "
		    "2, 'reason': 'pause', 'next_at': '2026-11-21T22:10:09.000Z', 'slots': []}",
	};

	expect(&scene, 80, 4, (const char *const[]){
		"Run 3  running  beads  iteration 1/2",
		"pause; next try in 9s",
		"",
		"q quit  ? help",
	});
}
END_TEST

/* Of many iterations the newest ones. */
START_TEST(long_history)
{
	json_t *run = document("{'id': 3, 'state': 'running', 'source': 'beads', 'iteration': 40}"),
	    *history = json_array();
	struct view s = { .run = run, .now = at(NOW) };
	struct screen_choice choice = { .slot = 0 };
	struct lines l;

	for (int i = 1; i <= 40; i++)
		json_array_append_new(history,
		    json_pack("{s:i, s:s}", "number", i, "state", i < 40 ? "passed" : "running"));
	json_object_set_new(run, "history", history);
	lines_init(&l, 60, false);
	screen_run(&l, &s, &choice, 12);
	ck_assert_str_eq(l.line[1], "iterations: \xe2\x80\xa6 37 passed | 38 passed | 39 passed | 40 running");
	lines_release(&l);
	json_decref(run);
}
END_TEST

/* ---- at any size ---- */

static json_t *many_slots(size_t count)
{
	json_t *run = document("{'id': 9, 'state': 'running', 'source': 'beads', 'iteration': 1, "
	    "'reason': 'a reason', 'tasks': [{'id': 'x', 'title': 't', 'state': 'claimed'}]}");
	json_t *slots = json_array();

	for (size_t i = 1; i <= count; i++)
		json_array_append_new(slots, json_pack("{s:i, s:s, s:s, s:i}", "slot", (int)i,
		    "phase", "implementing", "task", "x", "attempt", (int)i));
	json_object_set_new(run, "slots", slots);
	return run;
}

/* Exactly as many lines as there are, none wider than the screen, and the chosen
 * slot among them. */
START_TEST(any_size)
{
	static const size_t counts[] = { 0, 1, 3, 12, 64 };
	json_t *previews = json_object();

	for (int i = 1; i <= 64; i++) {
		char key[16];

		snprintf(key, sizeof key, "%d", i);
		json_object_set_new(previews, key,
		    document("{'lines': ['\xe6\xbc\xa2\xe5\xad\x97 one', 'two', 'three']}"));
	}
	for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
		json_t *run = many_slots(counts[c]);

		for (size_t height = 1; height <= 40; height++) {
			for (size_t chosen = 0; chosen < counts[c] || chosen == 0; chosen += 1 + counts[c] / 5) {
				size_t width = 1 + (height * 37 + chosen) % 100;
				struct view s = { .run = run, .previews = previews, .last = "last", .now = at(NOW),
					.keys = "q quit  ? help" };
				struct screen_choice choice = { .slot = chosen };
				char *name = status_tag_name((int64_t)chosen + 1), *mark;
				bool seen = false;
				struct lines l;

				lines_init(&l, width, false);
				screen_run(&l, &s, &choice, height);
				ck_assert_uint_eq(l.count, height);
				ck_assert_int_ne(asprintf(&mark, counts[c] > 1 ? "> %s " : "  %s ", name), -1);
				for (size_t i = 0; i < l.count; i++) {
					ck_assert_uint_le(text_width(l.line[i]), width);
					seen |= strncmp(l.line[i], mark, strlen(mark)) == 0;
				}
				if (height >= 6 && width >= 6 && counts[c] > 0)
					ck_assert_msg(seen, "%zux%zu: slot %zu of %zu is not shown",
					    width, height, chosen, counts[c]);
				lines_release(&l);
				free(name);
				free(mark);
			}
		}
		json_decref(run);
	}
	json_decref(previews);
}
END_TEST

#define RUBBISH "\\u001b[2J\\u001b]0;t\\u0007\\u009b1m\\r\\n\\t\\u202e"

/* Whatever an agent, a task or a reason says, nothing but our own colours is sent to a terminal. */
START_TEST(rubbish)
{
	static const struct scene scene = {
		.run = "{'id': 3, 'state': 'run" RUBBISH "', 'source': 'b" RUBBISH
		       "', 'iteration': 2, 'reason': 'r" RUBBISH
		       "', 'history': [{'number': 1, 'state': 'p" RUBBISH "'},"
		       "{'number': 2, 'state': 'running'}], 'tasks': [{'id': 't" RUBBISH
		       "', 'title': 'm" RUBBISH "', 'state': 'claimed'}],"
		       "'slots': [{'slot': 1, 'phase': 'fixing', 'task': 't" RUBBISH
		       "', 'attempt': 5, 'round': 1, 'fix': 1, 'fixes': 5, 'reason': 'x" RUBBISH "'},"
		       "{'slot': 2, 'phase': 'implementing', 'task': 't" RUBBISH
		       "', 'attempt': 6, 'round': 0, 'fixes': 5}, {'slot': 3, 'phase': 'held', 'cause': 'c"
		       RUBBISH "'}]}",
		.attempts = "[{'id': 5, 'slot': 1, 'role': 'fix', 'agent': 'a" RUBBISH
		    "', 'state': 'running'}, {'id': 6, 'slot': 2, 'role': 'implement', 'agent': 'a"
		    RUBBISH "', 'state': 'running'}]",
		.previews = "{'6': {'lines': ['p" RUBBISH "', '" RUBBISH "'], 'events': 1}}",
		.reviews = "[{'task_id': 't" RUBBISH "', 'iteration': 1, 'reviewer_agent': 'a"
		    RUBBISH "', 'decision': 'd" RUBBISH "', 'feedback': 'f" RUBBISH "',"
			   "'findings': [{'file': 'f" RUBBISH "', 'line': 1, 'severity': 's" RUBBISH
			   "', 'text': 't" RUBBISH "', 'state': 's" RUBBISH "'}]}]",
		.last = "last \033[2J",
	};

	for (int color = 0; color < 2; color++) {
		struct lines l = rendered(&scene, 100, 24, color == 1);

		for (size_t i = 0; i < l.count; i++) {
			const char *p = l.line[i];

			while (*p != '\0') {
				if (color == 1 && *p == '\033') {
					/* a colour, as print_sequence() makes it */
					ck_assert_int_eq(p[1], '[');
					p += 2 + strspn(p + 2, "0123456789");
					ck_assert_int_eq(*p++, 'm');
					continue;
				}
				ck_assert_msg((unsigned char)*p >= 0x20 && *p != 0x7f, "line %zu: %s", i, l.line[i]);
				ck_assert(strncmp(p, "\xc2\x9b", 2) != 0 && strncmp(p, "\xe2\x80\xae", 3) != 0);
				p++;
			}
			ck_assert(text_is_utf8(l.line[i], strlen(l.line[i])));
		}
		lines_release(&l);
	}
}
END_TEST

/* ---- what a person has chosen ---- */

static json_t *phases(const char *first, const char *second)
{
	return json_pack("{s:[{s:i,s:s,s:i},{s:i,s:s,s:i}]}", "slots", "slot", 1, "phase", first,
	    "round", 1, "slot", 2, "phase", second, "round", 1);
}

static void follow(struct screen_choice *choice, const char *first, const char *second)
{
	json_t *run = phases(first, second);

	screen_follow(choice, run);
	json_decref(run);
}

/* Entering a review shows it, and leaving it by any way shows what was shown before. */
START_TEST(review_is_shown_and_left)
{
	static const char *const ways[] = { "passed", "failed", "cancelled", "held", "committing",
	    "waiting", "implementing", "checking" };

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		for (int before = SCREEN_OUTPUT; before <= SCREEN_REVIEW; before++) {
			struct screen_choice choice = { .tab = (enum screen_tab)before };

			follow(&choice, "implementing", "implementing");
			ck_assert_int_eq(choice.tab, before);
			follow(&choice, "implementing", "reviewing");
			/* another slot's review is no reason */
			ck_assert_int_eq(choice.tab, before);
			follow(&choice, "reviewing", "implementing");
			ck_assert_int_eq(choice.tab, SCREEN_REVIEW);
			follow(&choice, "fixing", "implementing");
			ck_assert_int_eq(choice.tab, SCREEN_REVIEW);
			/* a look at the output is not for ever */
			screen_turn(&choice);
			ck_assert_int_eq(choice.tab, SCREEN_OUTPUT);
			follow(&choice, "reviewing", "implementing");
			/* nor taken back while it lasts */
			ck_assert_int_eq(choice.tab, SCREEN_OUTPUT);
			follow(&choice, ways[i], "implementing");
			ck_assert_int_eq(choice.tab, before);
		}
	}
}
END_TEST

START_TEST(choosing)
{
	struct screen_choice choice = { .slot = 0 };
	json_t *run = phases("reviewing", "implementing");

	screen_follow(&choice, run);
	ck_assert_int_eq(choice.tab, SCREEN_REVIEW);
	screen_choose(&choice, run, 1);
	ck_assert_uint_eq(choice.slot, 1);
	ck_assert_int_eq(choice.tab, SCREEN_OUTPUT);
	screen_choose(&choice, run, 2);		/* there is none */
	ck_assert_uint_eq(choice.slot, 1);
	screen_choose(&choice, run, 0);
	ck_assert_int_eq(choice.tab, SCREEN_REVIEW);
	screen_choose(&choice, run, 1);
	json_decref(run);
	run = json_pack("{s:[{s:i,s:s}]}", "slots", "slot", 1, "phase", "passed");
	screen_follow(&choice, run);
	ck_assert_uint_eq(choice.slot, 0);
	ck_assert_int_eq(choice.tab, SCREEN_OUTPUT);
	json_decref(run);
	screen_follow(&choice, NULL);
	ck_assert_uint_eq(choice.slot, 0);
	/* the checkout of the first review is being made: there is nothing of it to show */
	run = json_pack("{s:[{s:i,s:s,s:i}]}", "slots", "slot", 1, "phase", "reviewing", "round", 0);
	screen_follow(&choice, run);
	ck_assert_int_eq(choice.tab, SCREEN_OUTPUT);
	json_decref(run);
}
END_TEST

/* ---- rlctl show, and the list ---- */

START_TEST(blocks)
{
	json_t *run = document(night.run), *attempts = document(night.attempts);
	struct view s = { .run = run, .attempts = attempts, .now = at(NOW) };
	struct lines l;

	lines_init(&l, 0, false);
	screen_slots(&l, &s);
	ck_assert_uint_eq(l.count, 7);
	ck_assert_str_eq(l.line[0], "  A1 REVIEW  reviewing x-7  codex  round 2/6  started 1m 00s ago");
	ck_assert_str_eq(l.line[1], "    x-7  " TITLE);
	ck_assert_str_eq(l.line[2], "  A2 RUN  working on x-8  claude  started 1m 00s ago");
	lines_release(&l);
	json_decref(run);
	json_decref(attempts);
}
END_TEST

START_TEST(list)
{
	json_t *runs = document("[{'id': 9, 'state': 'running', 'title': 'nine', 'started_at': "
	    "'2026-11-21T22:00:00.000Z', 'slots': [{'slot': 1, 'phase': 'implementing'},"
		"{'slot': 2, 'phase': 'fixing', 'fix': 1}]}, {'id': 8, 'state': 'queued', 'title': "
		"'eight', 'reason': 'all slots of the daemon are in use',"
		"'created_at': '2026-11-21T22:09:00.000Z', 'started_at': null}]");
	static const char *const wanted[] = {
		"2 unfinished runs",
		"     9  running    10m 00s  RUN,FIX  nine",
		">    8  queued      1m 00s  all slots of the daemon are in use  eight",
		"", "q quit  ? help",
	};
	struct lines l;

	lines_init(&l, 80, false);
	screen_list(&l, runs, 1, NULL, "q quit  ? help", at(NOW), 5);
	ck_assert_uint_eq(l.count, 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(l.line[i], wanted[i]);
	lines_release(&l);
	for (size_t height = 1; height < 9; height++) {
		for (size_t chosen = 0; chosen < 2; chosen++) {
			bool seen = false;

			lines_init(&l, 3 * height, false);
			screen_list(&l, runs, chosen, NULL, "q quit  ? help", at(NOW), height);
			ck_assert_uint_eq(l.count, height);
			for (size_t i = 0; i < height; i++) {
				ck_assert_uint_le(text_width(l.line[i]), 3 * height);
				seen |= l.line[i][0] == '>';
			}
			ck_assert(seen);
			lines_release(&l);
		}
	}
	json_decref(runs);
}
END_TEST

/* The line of rlctl run. */
START_TEST(run_line)
{
	static const struct {
		const char *slots, *lines;
		size_t width;
		const char *wanted;
	} rows[] = {
		{ "{'slot': 1, 'phase': 'implementing', 'attempt': 5}", "['Read: calc.py']", 80,
		    "implementing  1m 30s  Read: calc.py  12.3k tokens  $1.50" },
		{ "{'slot': 1, 'phase': 'reviewing', 'round': 2, 'fixes': 5, 'attempt': 5}", "[]", 80,
		    "reviewing 2/6  1m 30s  12.3k tokens  $1.50" },
		/* words give way first, then what was spent */
		{ "{'slot': 1, 'phase': 'implementing', 'attempt': 5}", "['Read: calculator.py']", 56,
		    "implementing  1m 30s  Read: calcul…  12.3k tokens  $1.50" },
		{ "{'slot': 1, 'phase': 'implementing', 'attempt': 5}", "['Read: calculator.py']", 50,
		    "implementing  1m 30s  12.3k tokens  $1.50" },
		{ "{'slot': 1, 'phase': 'implementing', 'attempt': 5}", "['Read: calculator.py']", 40,
		    "implementing  1m 30s  Read: calculator.…" },
		{ "{'slot': 1, 'phase': 'waiting', 'reason': 'all slots are in use'}", "[]", 80,
		    "waiting  1m 30s  all slots are in use  12.3k tokens  $1.50" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = xasprintf("{" RUN ", 'started_at': '2026-11-21T22:08:30.000Z', 'slots': [%s], "
		    "'totals': {'tokens': 12345, 'cost_usd': 1.5}}", rows[i].slots);
		char *seen = xasprintf("{'lines': %s}", rows[i].lines);
		json_t *run = document(text), *preview = document(seen);
		struct lines l;

		lines_init(&l, rows[i].width, false);
		run_line_put(&l, run, preview, at(NOW));
		ck_assert_uint_eq(l.count, 1);
		ck_assert_str_eq(l.line[0], rows[i].wanted);
		lines_release(&l);
		json_decref(run);
		json_decref(preview);
		free(text);
		free(seen);
	}
}
END_TEST

/* Something moves within a second: the time does. */
START_TEST(run_line_is_due)
{
	struct run_line line = { .loaded = 0 };

	ck_assert_int_eq(run_line_due_ms(&line), 0);
	line.loaded = clock_steady();
	ck_assert_int_le(run_line_due_ms(&line), 1000);
	line.loaded -= 1000;
	ck_assert_int_eq(run_line_due_ms(&line), 0);
	line.loaded = clock_steady() + 1000000;
	ck_assert_int_gt(run_line_due_ms(&line), 1000000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("screen");
	TCase *tcase = tcase_create("screen");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, status_tag_table, 0, sizeof(tags) / sizeof(tags[0]));
	tcase_add_test(tcase, one_slot);
	tcase_add_test(tcase, four_slots_80x24);
	tcase_add_test(tcase, four_slots_40x10);
	tcase_add_test(tcase, four_slots_200x60);
	tcase_add_test(tcase, ended);
	tcase_add_test(tcase, next_try);
	tcase_add_test(tcase, long_history);
	tcase_add_test(tcase, any_size);
	tcase_add_test(tcase, rubbish);
	tcase_add_test(tcase, review_is_shown_and_left);
	tcase_add_test(tcase, choosing);
	tcase_add_test(tcase, blocks);
	tcase_add_test(tcase, list);
	tcase_add_test(tcase, run_line);
	tcase_add_test(tcase, run_line_is_due);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
