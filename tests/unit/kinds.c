/* SPDX-License-Identifier: MIT */
/* Kinds beside sentences: a database of an earlier version gets those of all sentences
 * that it can have. */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "core/cause.h"
#include "fill.h"
#include "store/sql.h"
#include "store/store.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static char dir[64], path[96];
static sqlite3 *db;

static void run_sql(const char *sql)
{
	char *error = NULL;

	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s: %s", sql, error);
}

/* The first value of a row; caller frees. */
static char *ask(const char *sql)
{
	sqlite3_stmt *stmt;
	char *text;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	text = xstrdup((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return text;
}

/* The schema before there were kinds, with one run. */
static void setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/rld-kinds.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/rld.db", dir);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	for (int i = 0; i < 6; i++)
		run_sql(sql_migrations[i].text);
	run_sql("INSERT INTO run (id, owner, workdir, source, state, priority, iteration, "
	    "plan) VALUES (1, 0, '/srv', 'prompt', 'running', 0, 1, '{}')");
}

static void teardown(void)
{
	sqlite3_close(db);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* As at the start of the daemon. */
static void upgrade(void)
{
	char error[512] = "";
	struct store *store;
	uv_loop_t loop;

	sqlite3_close(db);
	uv_loop_init(&loop);
	store = store_open(&loop, path, NULL, NULL, error, sizeof(error));
	ck_assert_msg(store != NULL, "%s", error);
	store_close(store);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
}

static void expect(const char *words, const char *sql, const char *kind)
{
	char *found = ask(sql);

	ck_assert_msg(found != NULL && strcmp(found, kind) == 0, "\"%s\": %s, expected %s", words,
	    found != NULL ? found : "none", kind);
	free(found);
}

/* Where a cause can stand: RUN and TASK have those of slots as well. */
enum where { RUN = 1, SLOT = 2, TASK = 4, ATTEMPT = 8 };

static const struct {
	int where;
	const char *words;
	enum end_kind kind;
} causes[] = {
	{ RUN | SLOT | TASK, "accepted: human:ann: looks right", END_APPROVED },
	{ RUN | SLOT | TASK, "accepted: human:ann", END_APPROVED },
	{ RUN | SLOT | TASK, "accepted: drift unresolved after 2 fix attempt(s)", END_WAIVED },
	{ RUN | SLOT | TASK, "accepted: reviewer contract violation: empty reviewer output", END_WAIVED },
	{ RUN | SLOT | TASK, "known issues: 2; max review rounds (3) reached", END_KNOWN_ISSUES },
	{ RUN | SLOT | TASK, "rejected by human:ann: accepted: no", END_REJECTED },
	{ RUN | SLOT | TASK, "reviewer contract violation: reviewer changed the tree: M a.c", END_VIOLATION },
	{ RUN | SLOT | TASK, "drift unresolved after 2 fix attempt(s)", END_EXHAUSTED },
	{ RUN | SLOT | TASK, "NO_GO unresolved after 0 fix attempt(s)", END_EXHAUSTED },
	{ RUN | SLOT | TASK, "must-fix unresolved after 1 fix attempt(s)", END_EXHAUSTED },
	{ RUN | SLOT | TASK, "max review rounds (3) reached", END_EXHAUSTED },
	{ RUN | SLOT | TASK, "Review failed after 3 iterations. "
	    "Please manually review review.md for remaining issues.", END_EXHAUSTED },
	{ RUN | SLOT | TASK, "stalled: 2 rounds in a row changed nothing or repeated every finding", END_STALLED },
	{ RUN | SLOT | TASK, "stalled: round 3 repeats round 1: the tree is the same", END_STALLED },
	{ SLOT, "stalled: 2 fix attempts in a row have left it so: "
	    "the commit was refused by a hook of the repository:\n\nno", END_STALLED },
	{ RUN | SLOT | TASK, "check `make test` still fails after 2 fix attempt(s): "
	    "check process exited with status 2", END_CHECK },
	{ SLOT, "the conflict with another task is not resolved: its markers are still in a.c. "
	    "Resolve it so that both tasks hold, ...", END_CONFLICT },
	{ SLOT, "this work conflicts with that of another task, which has been put on the same "
	    "branch meanwhile: a.c. The work tree ...", END_CONFLICT },
	{ SLOT, "rld/1 is checked out in /srv/a, so nothing is put on it: "
	    "what is there would fall behind, ...", END_CONFLICT },
	{ SLOT, "the commit was refused by a hook of the repository:\n\nno", END_COMMIT_REFUSED },
	{ SLOT | TASK, "not reviewed: limit: 3 iteration(s), 1 task(s) left", END_NOT_REVIEWED },
	{ RUN | SLOT | TASK | ATTEMPT, "limit: $5.20 of $5.00 are spent (max_cost)", END_LIMIT },
	{ RUN, "limit: 3 iteration(s), 5 task(s) left", END_LIMIT },
	{ RUN, "limit: 9 of 8 are used (max_tokens), 2 task(s) left", END_LIMIT },
	{ RUN | SLOT | TASK | ATTEMPT, "lost: implementer process is gone and its exit cannot be "
	    "known: the machine was started anew", END_LOST },
	{ SLOT | ATTEMPT, "host: cannot write: No space left on device; make room", END_HOST },
	{ RUN | SLOT | TASK | ATTEMPT,
	    "reviewer process timed out after 2h; limits.timeout sets the limit", END_TIMEOUT },
	{ RUN | SLOT | TASK | ATTEMPT,
	    "fixer process printed nothing for 20m; limits.idle_timeout sets the limit", END_TIMEOUT },
	{ RUN | SLOT | TASK | ATTEMPT,
	    "commit process made no progress for 20m; limits.idle_timeout sets the limit", END_TIMEOUT },
	{ RUN | SLOT | TASK | ATTEMPT,
	    "check process could not be started: exec x: No such file or directory; look at ...",
	    END_NOT_STARTED },
	{ RUN | SLOT | TASK | ATTEMPT, "implementer process was denied permissions and changed nothing", END_DENIED },
	{ RUN | SLOT | TASK | ATTEMPT,
	    "the implementer changed nothing and did not say that nothing was to be done", END_NO_CHANGE },
	{ RUN | SLOT | TASK | ATTEMPT,
	    "reviewer process exited with status 3: drift unresolved after 2 fix attempt(s)", END_ERROR },
	{ RUN | SLOT | TASK | ATTEMPT, "implementer process killed by signal 9", END_ERROR },
	{ RUN | SLOT | TASK | ATTEMPT,
	    "implementer process exited with status 0 but reported an error: limit: none", END_ERROR },
	{ RUN | SLOT | TASK | ATTEMPT, "fixer process gave its result and did not exit within 30s; "
	    "limits.post_result sets the limit: x", END_ERROR },
	{ RUN | SLOT | TASK | ATTEMPT,
	    "reviewer process was ended: its service refused every request: overloaded", END_ERROR },
	{ RUN | SLOT | TASK, "git measure failed: its process was killed three times", END_GIT },
	{ RUN, "git snapshot failed: fatal: check process timed out after 2h", END_GIT },
	{ RUN, "load of beads failed: bd: no such database", END_SOURCE },
	{ RUN | SLOT | TASK, "claim of beads failed: its process was killed three times", END_SOURCE },
	{ RUN, "cancelled by uid 1000", END_CANCELLED },
	{ RUN | SLOT | TASK | ATTEMPT, "cancelled", END_CANCELLED },
	{ ATTEMPT, "cancelled before it was started", END_CANCELLED },
	{ RUN, "run 7, which it comes after, failed", END_AFTER },
	{ RUN, "run 7, which it comes after, was cancelled", END_AFTER },
	{ RUN, "retried as run 8", END_RETRIED },
	{ RUN, "stop-marker: 2 task(s) left", END_STOP_MARKER },
	{ RUN, "nothing was picked: 2 task(s) left", END_NOT_PICKED },
	{ RUN, "2 task(s) left to others", END_TASKS_LEFT },
	{ RUN, "2 task(s) left, which wait for others that this run does not have", END_TASKS_LEFT },
	{ TASK, "taken: ann", END_TAKEN },
	{ TASK, "taken: another run works on it", END_TAKEN },
	{ TASK, "run 12 works on it", END_TAKEN },
	{ TASK, "it passed in run 12", END_DONE },
	{ TASK, "its source holds it back", END_SOURCE },
	{ TASK, "its source does not offer it any more: it was closed, taken or held back there", END_SOURCE },
	{ TASK, "depends on t1, which failed", END_DEPENDENCY },
	{ TASK, "waits for t1", END_DEPENDENCY },
	{ TASK, "waits for t1, which is not for this run", END_DEPENDENCY },
	{ TASK, "given back: the agent gave a stop marker", END_STOP_MARKER },
	{ TASK, "not started: limit: 3 iteration(s), 5 task(s) left", END_NOT_BEGUN },
	{ TASK, "not started: the run ended", END_NOT_BEGUN },
	{ RUN | SLOT | TASK | ATTEMPT, "what no version has ever said", END_ERROR },
	{ RUN | SLOT | TASK | ATTEMPT, "", END_ERROR },
};

START_TEST(test_causes)
{
	static const struct { enum where where; const char *insert, *found; } rows[] = {
		{ RUN, "INSERT INTO run (id, owner, workdir, source, state, plan, cause) VALUES (2, 0, "
		    "'/', 'prompt', 'failed', '{}', %Q)", "SELECT end_kind FROM run WHERE id = 2" },
		{ SLOT, "INSERT INTO slot (run, iteration, slot, stage, cause) VALUES (1, 1, 1, "
		    "'failed', %Q)", "SELECT end_kind FROM slot" },
		{ TASK, "INSERT INTO task (run, id, state, reason) VALUES (1, 't', 'failed', %Q)",
		    "SELECT end_kind FROM task" },
		{ ATTEMPT, "INSERT INTO attempt (id, run, number, role, uuid, state, process, "
		    "provider, outcome, cause) VALUES"
		    " (1, 1, 1, 'review', 'u', 'exited', 'exited', 'ok', 'failed', %Q)",
		    "SELECT end_kind FROM attempt" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *sql;

		if ((causes[_i].where & (int)rows[i].where) == 0)
			continue;
		sql = sqlite3_mprintf(rows[i].insert, causes[_i].words);
		run_sql(sql);
		sqlite3_free(sql);
	}
	upgrade();
	for (size_t i = 0; i < COUNT(rows); i++)
		if ((causes[_i].where & (int)rows[i].where) != 0)
			expect(causes[_i].words, rows[i].found, state_name(&end_kind_names, (int)causes[_i].kind));
}
END_TEST

static const struct {
	int where;
	const char *words;
	enum wait_kind kind;
} reasons[] = {
	{ RUN | SLOT, "all slots of the daemon are in use", WAIT_PERMIT },
	{ RUN | SLOT, "workdir busy: run 2", WAIT_WORKSPACE },
	{ RUN, "waits for run 2", WAIT_AFTER },
	{ RUN | SLOT, "group night is paused", WAIT_GROUP_PAUSED },
	{ RUN | SLOT, "group night: all 4 slots are in use", WAIT_GROUP },
	{ RUN | SLOT, "group night: its only slot is in use", WAIT_GROUP },
	{ SLOT, "account anthropic: limit until 2026-11-22T22:52:00.000Z: no more", WAIT_ACCOUNT },
	{ SLOT, "retry 1 of 5 at 2026-11-22T22:52:00.000Z: reviewer process exited with status 1", WAIT_RETRY },
	{ SLOT, "budget: account anthropic: $5.20 of $5.00 are spent (budget_day_usd), "
	    "and the rest is set aside for ...", WAIT_BUDGET },
	{ SLOT, "host: cannot fork: Resource temporarily unavailable; ...", WAIT_HOST },
	{ SLOT, "waiting for disk space: 5 MB free at /srv, limits.disk_floor is 1 GB", WAIT_SPACE },
	{ SLOT, "waiting to spawn until those before it have picked a task", WAIT_PICK },
	{ RUN | SLOT, "paused", WAIT_PAUSED },
	{ RUN, "paused by uid 1000", WAIT_PAUSED },
	{ RUN | SLOT, "the daemon is draining", WAIT_DRAINING },
	{ RUN, "preparing", WAIT_PREPARING },
	{ RUN, "pausing between iterations", WAIT_PAUSE },
	{ RUN, "waits for bd ready", WAIT_LOADING },
	{ RUN, "cancelling", WAIT_CANCELLING },
	{ SLOT, "not reviewed: review is off", WAIT_NOT_REVIEWED },
	{ SLOT, "given back: the agent gave a stop marker", WAIT_RELEASED },
	{ SLOT, "no task: somebody else has taken it", WAIT_TAKEN },
	{ SLOT, "not started: the run goes no further", WAIT_UNASSIGNED },
	{ RUN | SLOT, "what no version has ever said", WAIT_OTHER },
};

START_TEST(test_reasons)
{
	char *sql = sqlite3_mprintf("UPDATE run SET reason = %Q; INSERT INTO slot (run, iteration, "
	    "slot, stage, reason) VALUES (1, 1, 1, 'waiting', %Q)",
	    reasons[_i].words, reasons[_i].words);
	const char *kind = state_name(&wait_kind_names, (int)reasons[_i].kind);

	run_sql(sql);
	sqlite3_free(sql);
	upgrade();
	if (reasons[_i].where & RUN)
		expect(reasons[_i].words, "SELECT wait_kind FROM run", kind);
	if (reasons[_i].where & SLOT)
		expect(reasons[_i].words, "SELECT wait_kind FROM slot", kind);
}
END_TEST

/* A held run says what its task is held for, which may be any cause. */
START_TEST(test_held)
{
	run_sql("UPDATE run SET state = 'held', reason = 'lost: fixer process is gone'");
	upgrade();
	expect("held", "SELECT wait_kind FROM run", "decision");
}
END_TEST

/* By whom, in whatever stage; also while its lost commit agent is held, when the
 * words stand beside. */
START_TEST(test_accepted)
{
	run_sql("INSERT INTO slot (run, iteration, slot, stage, reason, cause) VALUES"
	    " (1, 1, 1, 'measuring', NULL, 'accepted: human:ann'), (1, 1, 2, 'passed', NULL, "
	    "'accepted: drift unresolved after 1 fix attempt(s)'), (1, 1, 3, 'held', "
	    "'known issues: 2; max review rounds (1) reached', 'lost: commit process is gone'),"
	    " (1, 1, 4, 'held', 'accepted: human:bob: yes', 'lost: commit process is gone'),"
	    " (1, 1, 5, 'passed', 'not reviewed: review is off', NULL), (1, 1, 6, 'failed', NULL, "
	    "'rejected by human:ann: accepted: no')");
	upgrade();
	expect("1 to 6", "SELECT group_concat(ifnull(accepted, '-'), ' ') FROM (SELECT accepted "
	    "FROM slot ORDER BY slot)", "human policy known-issues human - -");
	expect("3 and 4", "SELECT group_concat(wait_kind || ' ' || end_kind) FROM slot WHERE slot IN (3, 4)",
	    "decision lost,decision lost");
}
END_TEST

/* Nothing has no kind, and what holds something up keeps its own. */
START_TEST(test_nothing)
{
	run_sql("INSERT INTO slot (run, iteration, slot, stage, wait, wait_reason) VALUES (1, 1, "
	    "1, 'measuring', 'host', 'host: full'), (1, 1, 2, 'passed', 'nothing', NULL);"
	    "INSERT INTO task (run, id, state) VALUES (1, 't', 'open'); "
	    "UPDATE run SET wait = 'source', wait_reason = 'source: busy'");
	upgrade();
	expect("run", "SELECT wait || (end_kind IS NULL) || (wait_kind IS NULL) FROM run", "source11");
	expect("slots", "SELECT group_concat(ifnull(wait, '-') || (end_kind IS NULL) || (wait_kind "
	    "IS NULL) || (accepted IS NULL)) FROM slot", "host111,-111");
	expect("task", "SELECT end_kind IS NULL FROM task", "1");
}
END_TEST

/* A warning that a run has given is not given again. */
static const struct {
	const char *warnings, *warned;
} warnings[] = {
	{ "NULL", "0" },
	{ "'[]'", "0" },
	{ "'[\"$1.35 of $1.30 are spent (max_cost)\"]'", "0" },
	{ "'[\"48m of 1h are over (max_wall)\"]'", "1" },
	{ "'[\"x\",\"the time zone Mars/Olympus is not known here (Debian: tzdata), 8:25 is read as of UTC\"]'", "2" },
	{ "'[\"the agent''s time zone TZ=Mars is not known here\",\"48m of 1h are over (max_wall)\"]'", "3" },
};

START_TEST(test_warned)
{
	char *sql = xasprintf("UPDATE run SET warnings = %s", warnings[_i].warnings);

	run_sql(sql);
	upgrade();
	expect(warnings[_i].warnings, "SELECT warned FROM run", warnings[_i].warned);
	free(sql);
}
END_TEST

/* A sentence is copied with its kind, also one of the row itself. */
START_TEST(test_setters)
{
	struct slot_row *slot = row_new(ROW_SLOT);

	slot_set_cause(slot, CAUSE(END_STALLED, "stalled: x"));
	slot_set_reason(slot, REASON(WAIT_PERMIT, "none is free"));
	ck_assert(slot->end_kind == END_STALLED && slot->wait_kind == WAIT_PERMIT);
	slot_set_cause(slot, slot_cause(slot));
	ck_assert_str_eq(slot->cause, "stalled: x");
	ck_assert(slot_has_reason(slot, REASON(WAIT_PERMIT, "none is free")));
	ck_assert(!slot_has_reason(slot, REASON(WAIT_GROUP, "none is free")));
	slot_set_cause(slot, NO_CAUSE);
	slot_set_reason(slot, NO_REASON);
	ck_assert(slot->cause == NULL && slot->end_kind == END_NONE && slot->reason == NULL &&
	    slot->wait_kind == WAIT_NOTHING);
	row_free(ROW_SLOT, slot);
	for (int kind = 0; kind < ENDS; kind++)
		ck_assert_int_eq(end_accepted((enum end_kind)kind) != ACCEPTED_BY_NONE,
		    kind == END_WAIVED || kind == END_APPROVED || kind == END_KNOWN_ISSUES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kinds");
	TCase *tcase = tcase_create("kinds");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_causes, 0, COUNT(causes));
	tcase_add_loop_test(tcase, test_reasons, 0, COUNT(reasons));
	tcase_add_test(tcase, test_held);
	tcase_add_test(tcase, test_accepted);
	tcase_add_test(tcase, test_nothing);
	tcase_add_loop_test(tcase, test_warned, 0, COUNT(warnings));
	tcase_add_test(tcase, test_setters);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
