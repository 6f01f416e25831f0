/* SPDX-License-Identifier: MIT */
/* The schema itself: a database of an older rld is taken over whole, and its triggers hold
 * against any statement. */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "core/chain.h"
#include "fill.h"
#include "store/sql.h"
#include "store/store.h"
#include "scratch.h"

static char dir[64], path[96];
static uv_loop_t loop;
static sqlite3 *db;

static void setup(void)
{
	scratch_make(dir, sizeof(dir), "rld-schema");
	snprintf(path, sizeof(path), "%s/rld.db", dir);
	uv_loop_init(&loop);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
}

static void teardown(void)
{
	sqlite3_close(db);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
}

static void run_sql(const char *sql)
{
	char *error = NULL;

	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s: %s", sql, error);
}

static int64_t ask(const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t number;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return number;
}

/* All values of a query, each as SQL writes it. Caller frees. */
static char *values_of(const char *sql)
{
	struct buf b = { 0 };
	sqlite3_stmt *stmt;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			const char *text = (const char *)sqlite3_column_text(stmt, i);

			buf_addf(&b, "%d %s=%s;", sqlite3_column_type(stmt, i),
			    sqlite3_column_name(stmt, i), text != NULL ? text : "");
		}
		buf_adds(&b, "\n");
	}
	sqlite3_finalize(stmt);
	return b.data != NULL ? b.data : xstrdup("");
}

static void reopen(void)
{
	sqlite3_close(db);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
}

static bool try_open(struct store **store, char *error, size_t room)
{
	sqlite3_close(db);	/* the store wants it for itself alone */
	db = NULL;
	*store = store_open(&loop, path, NULL, NULL, error, room);
	return *store != NULL;
}

static struct store *open_store(void)
{
	struct store *store;
	char error[512] = "";

	ck_assert_msg(try_open(&store, error, sizeof(error)), "%s", error);
	return store;
}

static void close_store(struct store *store)
{
	store_close(store);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
}

/* What rld 0.1 left behind: each table, with and without values, runs at work and at their end. */
static const char version_1[] =
	"INSERT INTO run (id, owner, key, body_hash, workdir, workspace, has_git, source, state, "
	"reason, cause, priority,"
	" iteration, iterations, plan, environment, base_tree, result_ref, result_tree, result_attempt, review_count,"
	" review_head, warnings, retry_of, created_at, started_at, ended_at) VALUES"
	" (1, 0, NULL, NULL, '/srv/a', NULL, NULL, 'prompt', 'queued', NULL, NULL, NULL, NULL, "
	"NULL, NULL, NULL, NULL, NULL,"
	"  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),"
	" (2, 1000, 'k', 'h', '/srv/b', '/srv', 1, 'prompt', 'running', 'r', NULL, -3, 1, 1, "
	"'{\"review\":true,\"max_fixes\":7}',"
	"  'e', 't', NULL, NULL, NULL, 2, "
	"'fdc2d70bbee462ced41e3dbeaf40928aa3194140f32bdad6e0536b126bd45e73', '[\"w\"]', NULL, 1, 2, NULL),"
	" (9, 1000, NULL, NULL, '/srv/c', '/srv/c', 0, 'prompt', 'failed', NULL, 'c', 0, 1, 1, "
	"'{\"max_fixes\":0}', NULL, NULL,"
	"  'refs/rl/passed/9/t1', 'tt', 11, 0, NULL, '[]', 2, 1, 2, 3);"
	"INSERT INTO task VALUES (2, 't1', 'title', 4, 'claimed', NULL), (9, 't1', NULL, NULL, "
	"'passed', 'why'), (9, 't0', 'x', 1, 'open', NULL);"
	"INSERT INTO task_text VALUES (2, 't1', 'text'), (9, 't1', 'a' || char(10) || 'b');"
	"INSERT INTO iteration VALUES (2, 1, 'running', 5, NULL), (9, 1, 'failed', 6, 7);"
	"INSERT INTO slot VALUES (2, 1, 1, 'reviewing', 't1', 2, 1, 1, 14, 13, 'ah', 'tree', 'pt', "
	"'pa', 15, 0, NULL, NULL),"
	" (9, 1, 1, 'failed', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'r', 'c');"
	"INSERT INTO attempt VALUES (14, 2, 1, 1, 1, 't1', 'review', 2, 'claude', 'm', 'u14', 'b', "
	"'running', NULL, NULL, NULL, 'none',"
	"  'none', 'none', 1, 2, 3, 4, 5, 0.25, 's', 'ah', 99, 8, NULL),"
	" (11, 9, 1, NULL, NULL, NULL, 'fix', NULL, NULL, NULL, 'u11', NULL, 'exited', 1, 9, 'c', "
	"'exited', 'ok', 'done', NULL, NULL,"
	"  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);"
	"INSERT INTO step VALUES (15, 2, 1, 'diff: diff', 'u15', 'b', 'exited', 0, NULL, NULL, 5, "
	"6), (16, 2, NULL, 's', 'u16', NULL,"
	"  'running', NULL, NULL, NULL, NULL, NULL);"
	"INSERT INTO review VALUES (2, 1, 't1', 'claude', 'codex', 1, 'drift', "
	"'add a test' || char(10) || '- \303\244\303\266\303\274', NULL, 'text', 12,"
	"  '4b825dc6', '[\"f1\",\"f2\"]', 1790000000123, NULL, "
	"'75f15706065b40e42cf003e0621853f3cb253b4e16592d3c63c55940f2fc75e8'),"
	" (2, 2, 't1', 'claude', 'codex', 2, 'pass', NULL, '{\"tests\":\"ok\"}', 'file', 14, "
	"'5c825dc6', '[]', 1790000001123,"
	"  '75f15706065b40e42cf003e0621853f3cb253b4e16592d3c63c55940f2fc75e8', "
	"'fdc2d70bbee462ced41e3dbeaf40928aa3194140f32bdad6e0536b126bd45e73');"
	"INSERT INTO finding VALUES (2, 1, 1, 'f1', NULL, NULL, NULL, 'add a test', 'new'),"
	" (2, 1, 2, 'f2', 'a.c', 7, 'must-fix', '\303\244\303\266\303\274', 'repeated');"
	"INSERT INTO event VALUES (40, 1, 'daemon', NULL, '{}'), (41, 2, 'run.state', 2, '{\"state\":\"running\"}');"
	"INSERT INTO setting VALUES ('colour', 'blue'), ('none', NULL);";

static const char *const tables_1[] = {
	"run", "task", "task_text", "iteration", "slot", "attempt", "step", "review", "finding",
	"event", "setting", "sqlite_sequence",
};
#define TABLES (sizeof(tables_1) / sizeof(tables_1[0]))

static void make_version_1(void)
{
	run_sql(sql_migrations[0].text);
	run_sql(version_1);
	ck_assert_int_eq(ask(
	    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_stat1'"), TABLES);
}

/* For each table a query of the columns that version 1 has. */
static void columns_1(char *queries[TABLES])
{
	for (size_t i = 0; i < TABLES; i++) {
		char *sql = xasprintf("SELECT 'SELECT ' || group_concat('\"' || name || '\"') || ' "
		    "FROM %s ORDER BY 1, 2' AS q FROM pragma_table_info('%s')",
		    tables_1[i], tables_1[i]);
		sqlite3_stmt *stmt;

		ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
		ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
		queries[i] = xstrdup((const char *)sqlite3_column_text(stmt, 0));
		sqlite3_finalize(stmt);
		free(sql);
	}
}

/* The review log of run 2 by the statements of the daemon, and by its own check. */
static void verify_chain(struct store *store)
{
	struct query_bind run[] = { { ":run", 2, NULL }, { NULL, 0, NULL } },
	    id[] = { { ":id", 2, NULL }, { NULL, 0, NULL } };
	struct rowset reviews, findings, runs;
	struct run_row *row;
	char *fault;

	store_read_now(store, "run.reviews", ROW_REVIEW, run, &reviews);
	store_read_now(store, "run.findings", ROW_FINDING, run, &findings);
	store_read_now(store, "run.get", ROW_RUN, id, &runs);
	ck_assert(reviews.count == 2 && findings.count == 2 && runs.count == 1);
	row = runs.rows[0];
	fault = chain_verify((const struct review_row *const *)reviews.rows, reviews.count,
	    (const struct finding_row *const *)findings.rows,
	    findings.count, row->review_count, row->review_head);
	ck_assert_msg(fault == NULL, "%s", fault);
	rowset_release(&reviews);
	rowset_release(&findings);
	rowset_release(&runs);
}

START_TEST(test_upgrade_keeps_everything)
{
	static const char slots[] =
	    "SELECT slot.run, fixes, \"check\", failed_check, item, message FROM slot ORDER BY 1";
	char *queries[TABLES], *before[TABLES], *after, *triggers;
	struct store *store;
	struct rowset set;

	make_version_1();
	columns_1(queries);
	for (size_t i = 0; i < TABLES; i++) {
		before[i] = values_of(queries[i]);
		ck_assert_msg(strchr(before[i], '\n') != NULL, "%s is empty", tables_1[i]);
	}
	triggers = values_of("SELECT sql FROM sqlite_schema WHERE type IN ('trigger', "
	    "'index') AND name <> 'task_in_order' ORDER BY name");
	store = open_store();
	verify_chain(store);
	store_read_now(store, "slot.unfinished", ROW_SLOT, NULL, &set);
	ck_assert_uint_eq(set.count, 1);
	ck_assert_int_eq(((struct slot_row *)set.rows[0])->fixes, 7);
	ck_assert_int_eq(((struct slot_row *)set.rows[0])->stage, SLOT_S_REVIEWING);
	rowset_release(&set);
	close_store(store);
	ck_assert_int_eq(ask("PRAGMA user_version"), (int64_t)sql_migrations_count);
	ck_assert_int_eq(ask("SELECT length(value) FROM setting WHERE name = 'instance' AND value "
	    "NOT GLOB '*[^0-9a-f]*'"), 8);
	run_sql("DELETE FROM setting WHERE name = 'instance'");
	for (size_t i = 0; i < TABLES; i++) {
		after = values_of(queries[i]);
		ck_assert_str_eq(after, before[i]);
		free(after);
		free(before[i]);
		free(queries[i]);
	}
	after = values_of(slots);
	ck_assert_str_eq(after, "1 run=2;1 fixes=7;1 check=0;5 failed_check=;1 item=0;5 message=;\n"
	    "1 run=9;1 fixes=0;1 check=0;5 failed_check=;1 item=0;5 message=;\n");
	free(after);
	ck_assert_int_eq(ask("SELECT count(*) FROM run WHERE coalesce(subdir, result_commit, "
	    "known_issues, others, instance) IS NOT NULL"), 0);
	ck_assert_int_eq(ask("SELECT count(*) FROM task WHERE coalesce(locked_ref, locked_tree) IS NOT NULL"), 0);
	ck_assert_int_eq(ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
	ck_assert_int_eq(ask("SELECT count(*) FROM pragma_foreign_key_check"), 0);
	after = values_of("SELECT sql FROM sqlite_schema WHERE type IN ('trigger', "
	    "'index') AND name NOT IN ('attempt_after_lock',"
	    " 'attempt_moved_after_lock', 'task_lock_is_never_changed', "
	    "'task_lock_is_never_deleted', 'hook_id_is_no_other',"
	    " 'attempt_id_is_no_hook', 'step_id_is_no_hook', 'hold_of_run', 'hold_open', "
	    "'hook_unfinished', 'sqlite_autoindex_hook_1', 'task_in_order', 'claim_in_force', "
	    "'claim_is_never_stolen', 'sqlite_autoindex_claim_1', 'salvage_of_run',"
	    " 'salvage_id_is_no_other', 'attempt_id_is_no_salvage', 'step_id_is_no_salvage', "
	    "'hook_id_is_no_salvage', 'sqlite_autoindex_group_1', 'sqlite_autoindex_cooldown_1', "
	    "'product_is_never_changed', 'product_is_never_deleted', 'evidence_is_never_changed', "
	    "'evidence_is_never_deleted', 'evidence_of_tree', 'sqlite_autoindex_product_1', "
	    "'sqlite_autoindex_evidence_1', 'judge_is_never_changed', 'judge_is_never_deleted', "
	    "'entry_is_never_changed', 'entry_is_never_deleted', 'sqlite_autoindex_entry_1', "
	    "'pruned_is_never_changed', 'pruned_is_never_deleted', 'pruned_undone', 'run_by_bytes', 'step_of_run', "
	    "'hook_of_run', 'plan_is_never_changed', 'plan_is_never_deleted', 'sqlite_autoindex_plan_1')"
	    " ORDER BY name");
	ck_assert_str_eq(after, triggers);
	free(after);
	free(triggers);
	store = open_store();	/* and once more, now that nothing is to be done */
	verify_chain(store);
	close_store(store);
}
END_TEST

/* Of the second schema, with a run at work and one held. */
static const char version_2[] =
	"UPDATE run SET subdir = 'sub', known_issues = '[]' WHERE id = 2;"
	"INSERT INTO run (id, owner, workdir, workspace, has_git, subdir, source, state, priority, "
	"iteration, iterations, plan) VALUES"
	" (10, 1000, '/srv/d', '/srv/d', 1, '', 'prompt', 'held', 0, 1, 1, '{\"max_fixes\":3}');"
	"INSERT INTO task (run, id, title, size, state) VALUES (10, 't1', 'held', 1, 'claimed');"
	"INSERT INTO task_text VALUES (10, 't1', 'h');"
	"INSERT INTO iteration VALUES (10, 1, 'running', 5, NULL);"
	"INSERT INTO slot (run, iteration, slot, stage, task, round, fix, fixes, stalled, "
	"\"check\", item, interrupted) VALUES"
	" (10, 1, 1, 'held', 't1', 0, 0, 3, 0, 0, 0, 0);"
	"INSERT INTO hold (id, run, task, iteration, slot, kind, reason, state, "
	"created_at) VALUES (4, 10, 't1', 1, 1, 'lost', 'r', 'open', 9);"
	"INSERT INTO hook (id, run, name, command, environment, uuid, state) VALUES (30, 10, "
	"'on_hold', '[\"x\"]', '{}', 'u30', 'starting');";

static void *only_row(struct store *store, const char *statement, enum row_kind kind, size_t at, size_t count)
{
	struct rowset set;
	void *row;

	store_read_now(store, statement, kind, NULL, &set);
	ck_assert_msg(set.count == count, "%s: %zu rows", statement, set.count);
	row = row_copy(kind, set.rows[at]);
	rowset_release(&set);
	return row;
}

static void written_cb(void *arg, enum store_result result, struct decision *d)
{
	ck_assert_int_eq(result, STORE_OK);
	*(bool *)arg = true;
	decision_release(d);
	free(d);
}

/* The rows of unfinished runs are whole for an engine that knows more of them, and it can
 * write them back. */
START_TEST(test_unfinished_runs_of_version_2)
{
	static const struct {
		const char *statement;
		enum row_kind kind;
		size_t at, count;	/* of run 10: the last; the step is of run 2 */
	} rows[] = {
		{ "run.unfinished", ROW_RUN, 2, 3 }, { "task.unfinished", ROW_TASK, 1, 2 },
		{ "iteration.unfinished", ROW_ITERATION, 1, 2 },
		{ "slot.unfinished", ROW_SLOT, 1, 2 }, { "step.unfinished", ROW_STEP, 0, 2 },
		{ "hold.unfinished", ROW_HOLD, 0, 1 },
		{ "hook.unfinished", ROW_HOOK, 0, 1 },
	};
	enum { RUN, TASK, ITERATION, SLOT, STEP, HOLD, HOOK, COUNT };
	void *first[COUNT], *again[COUNT];
	struct decision *d = xcalloc(1, sizeof(*d));
	struct store *store;
	bool written = false;

	make_version_1();
	run_sql("UPDATE step SET state = 'running' WHERE id = 15");
	run_sql(sql_migrations[1].text);
	run_sql(version_2);
	store = open_store();
	for (int i = 0; i < COUNT; i++)
		first[i] = only_row(store, rows[i].statement, rows[i].kind, rows[i].at, rows[i].count);
	{
		const struct run_row *run = first[RUN];
		const struct task_row *task = first[TASK];
		const struct slot_row *slot = first[SLOT];
		const struct step_row *step = first[STEP];

		ck_assert(run->id == 10 && run->state == RUN_S_HELD && run->paused == 0 && run->stopped == 0);
		ck_assert_str_eq(run->group, "default");
		ck_assert(run->after_run == ROW_NONE && run->next_at == ROW_NONE &&
		    run->source_path == NULL && run->result_branch == NULL);
		ck_assert(task->run == 10 && task->position == 1 && task->priority == ROW_NONE && task->plan == NULL);
		ck_assert(slot->stage == SLOT_S_HELD && slot->leaving == LEAVING_NOTHING &&
		    slot->worktree == NULL && slot->fixes == 3);
		ck_assert(slot->retries == 0 && slot->retry_at == ROW_NONE && slot->cooling == NULL);
		ck_assert(step->id == 15 && step->slot == 1 && step->iteration == 1);
	}
	for (int i = 0; i < COUNT; i++)
		decision_put(d, rows[i].kind, first[i]);
	store_commit(store, d, false, written_cb, &written);
	while (!written)
		uv_run(&loop, UV_RUN_ONCE);
	close_store(store);
	/* of the run itself */
	ck_assert_int_eq(ask("SELECT iteration IS NULL FROM step WHERE id = 16"), 1);
	ck_assert_int_eq(ask("SELECT count(*) FROM task WHERE run = 9 AND (id, "
	    "position) IN (VALUES ('t1', 1), ('t0', 2))"), 2);
	store = open_store();
	for (int i = 0; i < COUNT; i++) {
		again[i] = only_row(store, rows[i].statement, rows[i].kind, rows[i].at, rows[i].count);
		assert_rows_equal(rows[i].kind, again[i], first[i], NULL);
		row_free(rows[i].kind, again[i]);
		row_free(rows[i].kind, first[i]);
	}
	close_store(store);
}
END_TEST

/* An upgraded database and a new one are the same to whoever writes statements. */
START_TEST(test_upgraded_is_as_new)
{
	static const char columns[] = "SELECT m.name, c.name, c.type, c.\"notnull\", c.pk FROM "
	    "sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2";
	static const char rest[] =
	    "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type <> 'table' ORDER BY name";
	char *upgraded[2], *fresh[2];

	make_version_1();
	close_store(open_store());
	upgraded[0] = values_of(columns);
	upgraded[1] = values_of(rest);
	sqlite3_close(db);
	unlink(path);
	db = NULL;
	close_store(open_store());
	fresh[0] = values_of(columns);
	fresh[1] = values_of(rest);
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(upgraded[i], fresh[i]);
		free(upgraded[i]);
		free(fresh[i]);
	}
}
END_TEST

/* A slot of version 3 whose work tree is being made goes on with that. */
START_TEST(test_renamed_stage)
{
	make_version_1();
	run_sql(sql_migrations[1].text);
	run_sql(version_2);
	run_sql(sql_migrations[2].text);
	run_sql("UPDATE slot SET stage = 'laying' WHERE run = 10");
	close_store(open_store());
	ck_assert_int_eq(ask("SELECT count(*) FROM slot WHERE stage = 'creating-worktree'"), 1);
	ck_assert_int_eq(ask("SELECT count(*) FROM slot WHERE stage = 'laying'"), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
}
END_TEST

/* A migration that cannot be finished has not begun. */
START_TEST(test_failed_upgrade_changes_nothing)
{
	char *schema, *after, error[512] = "";
	struct store *store;

	make_version_1();
	run_sql("UPDATE run SET plan = 'no JSON' WHERE id = 2");
	schema = values_of("SELECT type, name, sql FROM sqlite_schema ORDER BY name");
	ck_assert(!try_open(&store, error, sizeof(error)));
	ck_assert_msg(strstr(error, "malformed JSON") != NULL, "%s", error);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	after = values_of("SELECT type, name, sql FROM sqlite_schema ORDER BY name");
	ck_assert_str_eq(after, schema);
	ck_assert_int_eq(ask("PRAGMA user_version"), 1);
	run_sql("UPDATE run SET plan = '{}' WHERE id = 2");
	close_store(open_store());
	ck_assert_int_eq(ask("PRAGMA user_version"), (int64_t)sql_migrations_count);
	free(schema);
	free(after);
	uv_run(&loop, UV_RUN_DEFAULT);
}
END_TEST

/* As the daemon's own connection is. */
static void connect_as_rld(void)
{
	reopen();
	for (size_t i = 0; i < sql_statements_count; i++)
		if (strcmp(sql_statements[i].name, "connection.setup") == 0)
			run_sql(sql_statements[i].text);
}

static void make_newest(void)
{
	make_version_1();
	close_store(open_store());
	connect_as_rld();
}

static void expect_refusal(const char *sql, const char *words)
{
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_CONSTRAINT, "%s: %s", sql, sqlite3_errmsg(db));
	ck_assert_msg(strstr(sqlite3_errmsg(db), words) != NULL, "%s: %s", sql, sqlite3_errmsg(db));
}

static const char record_rows[] =
	"INSERT INTO product (run, number, kind, tree, created_at, hash) VALUES (2, 1, 'base', 't', 1, 'h'), "
	"(2, 2, 'work', 'u', 2, 'i');"
	"INSERT INTO evidence (run, number, kind, subject, result, created_at, hash) VALUES "
	"(2, 1, 'check', 'make', 'red', 1, 'h'), (2, 2, 'check', 'make', 'green', 2, 'i');"
	"INSERT INTO entry (run, number, kind, key, row_hash, created_at, hash) VALUES "
	"(2, 1, 'attempt', '1', 'r', 1, 'h'), (2, 2, 'run', '2', 's', 2, 'i');";

/* No column of the record, not even to its own value, not by any form of a statement. */
START_TEST(test_the_record_is_append_only)
{
	static const char *const forms[] = {
		"DELETE FROM %s WHERE number = 1", "DELETE FROM %s WHERE number = 2", "DELETE FROM %s",
		"REPLACE INTO %s SELECT * FROM %s", "INSERT OR REPLACE INTO %s SELECT * FROM %s WHERE number = 2",
		"UPDATE OR REPLACE %s SET number = 3 - number", "UPDATE %s SET number = number + 7",
		"UPDATE OR IGNORE %s SET run = 9", 
		("INSERT INTO %s SELECT * FROM %s WHERE true "
		    "ON CONFLICT DO UPDATE SET number = excluded.number"),
	};
	static const char *const contents[] = { "SELECT * FROM review", "SELECT * FROM finding",
	    "SELECT * FROM product", "SELECT * FROM evidence", "SELECT * FROM entry" };
	char *before[5];

	make_newest();
	run_sql(record_rows);
	for (int kind = ROW_REVIEW; kind <= ROW_ENTRY; kind++) {
		before[kind - ROW_REVIEW] = values_of(contents[kind - ROW_REVIEW]);
		ck_assert_str_ne(before[kind - ROW_REVIEW], "");
	}
	for (int kind = ROW_REVIEW; kind <= ROW_ENTRY; kind++) {
		const struct row_type *type = &row_types[kind];
		char sql[256];

		for (size_t i = 0; i < type->nfields; i++) {
			snprintf(sql, sizeof(sql), "UPDATE %s SET \"%s\" = \"%s\"", type->name,
			    type->fields[i].name, type->fields[i].name);
			expect_refusal(sql, "append-only");
		}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
			snprintf(sql, sizeof(sql), forms[i], type->name, type->name);
			expect_refusal(sql, "append-only");
		}
#pragma GCC diagnostic pop
	}
	expect_refusal("INSERT OR IGNORE INTO finding SELECT run, 77, number, id, file, line, "
	    "severity, text, state, reviewers FROM finding", "FOREIGN KEY");
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		char *after = values_of(contents[i]);

		ck_assert_str_eq(after, before[i]);
		free(after);
		free(before[i]);
	}
}
END_TEST

static const struct {
	const char *sql;
	const char *words;	/* NULL: it is allowed */
} statements[] = {
	{ "UPDATE task SET locked_tree = 'other' WHERE run = 2", "is locked" },
	{ "UPDATE task SET locked_tree = NULL WHERE run = 2", "is locked" },
	{ "UPDATE task SET locked_ref = 'other' WHERE run = 2", "is locked" },
	{ "UPDATE task SET locked_ref = NULL, locked_tree = NULL, state = 'open'", "is locked" },
	{ "REPLACE INTO task (run, id, state) VALUES (2, 't1', 'open')", "is locked" },
	{ "DELETE FROM task_text; DELETE FROM task WHERE run = 2", "is locked" },
	{ "UPDATE task SET state = 'passed', locked_tree = 'tree', locked_ref = 'ref' WHERE run = 2", NULL },
	{ "DELETE FROM task_text; UPDATE run SET state = 'succeeded'; DELETE FROM task", NULL },
	{ "INSERT INTO attempt (id, run, number, task, role, uuid, state, process, provider, outcome)"
	    " VALUES (20, 2, 2, 't1', 'fix', 'u', 'starting', 'none', 'none', 'none')", "is locked" },
	{ "REPLACE INTO attempt (id, run, number, task, role, uuid, state, process, provider, outcome)"
	    " VALUES (20, 2, 2, 't1', 'fix', 'u', 'starting', 'none', 'none', 'none')", "is locked" },
	{ "INSERT INTO attempt (id, run, number, task, role, uuid, state, process, provider, outcome)"
	    " VALUES (20, 2, 2, 't2', 'fix', 'u', 'starting', 'none', 'none', 'none'); "
	    "UPDATE attempt SET task = 't1' WHERE id = 20", "is locked" },
	{ "INSERT INTO attempt (id, run, number, task, role, uuid, state, process, provider, outcome)"
	    " VALUES (20, 9, 2, 't1', 'fix', 'u', 'starting', 'none', 'none', 'none')", NULL },
	{ "INSERT INTO attempt (id, run, number, task, role, uuid, state, process, provider, outcome)"
	    " VALUES (14, 2, 1, 't1', 'review', 'u14', 'exited', 'none', 'none', 'none')"
	    " ON CONFLICT (id) DO UPDATE SET state = excluded.state, task = excluded.task", NULL },
	{ "INSERT INTO hold (run, task, iteration, slot, kind, state, created_at) VALUES (2, 't1', "
	    "1, 1, 'lost', 'open', 1),"
	    " (2, 't1', 1, 1, 'lost', 'open', 1)", "UNIQUE constraint failed: hold.run, hold.task" },
	{ "INSERT INTO hold (run, task, iteration, slot, kind, state, created_at) VALUES (2, 't1', "
	    "1, 1, 'lost', 'rework', 1),"
	    " (2, 't1', 1, 1, 'lost', 'open', 1)", "UNIQUE constraint failed: hold.run, hold.task" },
	{ "INSERT INTO hold (run, task, iteration, slot, kind, state, created_at) VALUES (2, 't1', "
	    "1, 1, 'lost', 'reworked', 1),"
	    " (2, 't1', 1, 1, 'lost', 'open', 1), (2, 't2', 1, 2, 'lost', 'open', 1), (9, 't1', 1, "
	    "1, 'lost', 'open', 1)", NULL },
	{ "INSERT INTO hold (run, task, iteration, slot, kind, state, created_at) VALUES (3, 't1', "
	    "1, 1, 'lost', 'open', 1)", "FOREIGN KEY" },
	{ "INSERT INTO hook (id, run, name, command, environment, uuid, state) VALUES (14, 2, "
	    "'on_end', '[]', '{}', 'h', 'starting')", "an attempt or a step has this id" },
	{ "INSERT INTO hook (id, run, name, command, environment, uuid, state) VALUES (15, 2, "
	    "'on_end', '[]', '{}', 'h', 'starting')", "an attempt or a step has this id" },
	{ "INSERT INTO hook (id, run, name, command, environment, uuid, state) VALUES (20, 2, "
	    "'on_end', '[]', '{}', 'h', 'starting');"
	    "INSERT INTO step (id, run, name, uuid, state) VALUES (20, 2, 's', 'u', 'starting')",
	    "a hook has this id" },
	{ "INSERT INTO hook (id, run, name, command, environment, uuid, state) VALUES (20, 9, "
	    "'on_end', '[]', '{}', 'h', 'starting');"
	    "INSERT INTO attempt (id, run, number, task, role, uuid, state, process, provider, outcome)"
	    " VALUES (20, 9, 2, 't1', 'fix', 'u', 'starting', 'none', 'none', 'none')",
	    "a hook has this id" },
	{ "INSERT INTO claim VALUES ('s', 't', 2, 'held', 1); UPDATE claim SET run = 1",
	    "another run works on this task" },
	{ "INSERT INTO claim VALUES ('s', 't', 2, 'held', 1), ('s', 't', 1, 'held', 2)", "UNIQUE constraint failed" },
	{ "INSERT INTO claim VALUES ('s', 't', 2, 'held', 1); INSERT INTO claim VALUES ('s', 't', 1, 'free', 2)"
	    " ON CONFLICT (source, task) DO UPDATE SET run = excluded.run, state = excluded.state",
	    "another run works on this task" },
	{ "INSERT INTO claim VALUES ('s', 't', 2, 'held', 1); UPDATE claim SET state = 'free'; "
	    "UPDATE claim SET run = 1, state = 'held'", NULL },
	/* it has ended */
	{ "INSERT INTO claim VALUES ('s', 't', 9, 'held', 1); UPDATE claim SET run = 1", NULL },
	{ "INSERT INTO claim VALUES ('s', 't', 3, 'held', 1)", "FOREIGN KEY" },
	{ "INSERT INTO hook (id, run, name, command, environment, uuid, state) VALUES (17, 9, "
	    "'on_end', '[]', '{}', 'h', 'starting')", NULL },
	{ "INSERT INTO pruned VALUES (9, 5, 'age', NULL, 7, NULL); UPDATE pruned SET done = 1", NULL },
	{ "INSERT INTO pruned VALUES (9, 5, 'age', NULL, 7, NULL); UPDATE pruned SET bytes = 8", "append-only" },
	{ "INSERT INTO pruned VALUES (9, 5, 'age', NULL, 7, NULL); UPDATE pruned SET by_uid = 8", "append-only" },
	{ "INSERT INTO pruned VALUES (9, 5, 'age', NULL, 7, 1); UPDATE pruned SET done = NULL", "append-only" },
	{ "INSERT INTO pruned VALUES (9, 5, 'age', NULL, 7, NULL); REPLACE INTO pruned VALUES (9, 6, 'age', 1, 1, 1)",
	    "append-only" },
	{ "INSERT INTO pruned VALUES (9, 5, 'age', NULL, 7, 1); DELETE FROM pruned", "append-only" },
	{ "INSERT INTO pruned VALUES (4, 5, 'age', NULL, 7, 1)", "FOREIGN KEY" },
};

START_TEST(test_triggers)
{
	make_newest();
	run_sql("UPDATE task SET locked_tree = 'tree', locked_ref = 'ref' WHERE run = 2");
	if (statements[_i].words != NULL)
		expect_refusal(statements[_i].sql, statements[_i].words);
	else
		run_sql(statements[_i].sql);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("schema");
	TCase *tcase = tcase_create("schema");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_upgrade_keeps_everything);
	tcase_add_test(tcase, test_unfinished_runs_of_version_2);
	tcase_add_test(tcase, test_upgraded_is_as_new);
	tcase_add_test(tcase, test_renamed_stage);
	tcase_add_test(tcase, test_failed_upgrade_changes_nothing);
	tcase_add_test(tcase, test_the_record_is_append_only);
	tcase_add_loop_test(tcase, test_triggers, 0, sizeof(statements) / sizeof(statements[0]));
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
