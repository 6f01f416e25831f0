/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "fill.h"
#include "store/sql.h"
#include "store/store.h"
#include "scratch.h"

/* A store in a directory of its own, and what its loop was told. */
struct world {
	char dir[64], path[96];
	uv_loop_t loop;
	struct store *store;
	char error[512];
	size_t told, refused;		/* decisions reported; of these with STORE_NO_SPACE */
	int64_t last_seq;		/* newest event number in a reported decision */
	bool full;
	int space_news;
	struct rowset set;		/* of the last read */
	bool read;
};

static void space_cb(void *arg, bool full)
{
	struct world *w = arg;

	w->full = full;
	w->space_news++;
}

static bool try_open(struct world *w)
{
	w->store = store_open(&w->loop, w->path, space_cb, w, w->error, sizeof(w->error));
	return w->store != NULL;
}

static void world_open(struct world *w)
{
	ck_assert_msg(try_open(w), "%s", w->error);
}

static void world_init(struct world *w)
{
	*w = (struct world){ 0 };
	scratch_make(w->dir, sizeof(w->dir), "rld-store");
	snprintf(w->path, sizeof(w->path), "%s/rld.db", w->dir);
	uv_loop_init(&w->loop);
}

static void world_close(struct world *w)
{
	store_close(w->store);
	w->store = NULL;
	uv_run(&w->loop, UV_RUN_DEFAULT);
}

static void world_end(struct world *w)
{
	static const char *const names[] = { "rld.db", "rld.db-wal", "rld.db-journal" };
	char path[128];

	world_close(w);
	ck_assert_int_eq(uv_loop_close(&w->loop), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->dir, names[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(w->dir), 0);
}

static struct decision *decision_new(void)
{
	return xcalloc(1, sizeof(struct decision));
}

static void told_cb(void *arg, enum store_result result, struct decision *d)
{
	struct world *w = arg;

	w->told++;
	w->refused += result == STORE_NO_SPACE;
	for (size_t i = 0; result == STORE_OK && i < d->count; i++) {
		if (d->changes[i].kind == ROW_EVENT)
			w->last_seq = ((struct event_row *)d->changes[i].row)->seq;
	}
	decision_release(d);
	free(d);
}

static void wait_told(struct world *w, size_t count)
{
	while (w->told < count)
		uv_run(&w->loop, UV_RUN_ONCE);
}

/* Hand over and wait for the report. */
static void commit(struct world *w, struct decision *d, bool refusable)
{
	size_t before = w->told;

	store_commit(w->store, d, refusable, told_cb, w);
	wait_told(w, before + 1);
}

static void read_cb(void *arg, struct rowset *set)
{
	struct world *w = arg;

	w->set = *set;
	w->read = true;
}

/* The rows are w->set, to be released. */
static void read_page(struct world *w, const char *statement, enum row_kind kind, const struct query_bind *binds)
{
	w->read = false;
	store_read(w->store, statement, kind, binds, read_cb, w);
	while (!w->read)
		uv_run(&w->loop, UV_RUN_ONCE);
}

#define BINDS(...) ((struct query_bind[]){ __VA_ARGS__, { NULL, 0, NULL } })

static void put_run(struct decision *d, int64_t id, int64_t owner, enum run_state state)
{
	struct run_row *run = row_new(ROW_RUN);

	run->id = id;
	run->owner = owner;
	run->workdir = xstrdup("/srv/work");
	run->source = xstrdup("prompt");
	run->state = state;
	run->plan = xstrdup("{}");
	decision_put(d, ROW_RUN, run);
	row_free(ROW_RUN, run);
}

static void put_task(struct decision *d, int64_t run, const char *id, const char *text)
{
	struct task_row *task = row_new(ROW_TASK);

	task->run = run;
	task->id = xstrdup(id);
	task->text = xstrdup(text);
	task->size = text != NULL ? (int64_t)strlen(text) : 0;
	decision_put(d, ROW_TASK, task);
	row_free(ROW_TASK, task);
}

static void put_setting(struct decision *d, const char *name, const char *value)
{
	decision_put(d, ROW_SETTING, &(struct setting_row){ (char *)(uintptr_t)name, (char *)(uintptr_t)value });
}

/* A text of size times 'x'. */
static char *text_of(size_t size)
{
	char *text = xcalloc(size + 1, 1);

	memset(text, 'x', size);
	return text;
}

/* A second program's view of the closed database. */
static sqlite3 *peek(struct world *w)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(w->path, &db), SQLITE_OK);
	return db;
}

static int64_t ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t number;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return number;
}

/* How each kind is keyed in the test of all kinds, and read back. */
static const struct {
	const char *statement;		/* gives that row */
	bool append_only;
} kinds[ROW_KINDS] = {
	[ROW_RUN] = { "run.unfinished", false },
	[ROW_TASK] = { "task.unfinished", false },
	[ROW_JUDGE] = { "judge.get", true },
	[ROW_ITERATION] = { "iteration.unfinished", false },
	[ROW_SLOT] = { "slot.unfinished", false },
	[ROW_ATTEMPT] = { "attempt.unfinished", false },
	[ROW_STEP] = { "step.unfinished", false },
	[ROW_REVIEW] = { "review.unfinished", true },
	[ROW_FINDING] = { "finding.unfinished", true },
	[ROW_PRODUCT] = { "product.unfinished", true },
	[ROW_EVIDENCE] = { "evidence.unfinished", true },
	[ROW_ENTRY] = { "entry.unfinished", true },
	[ROW_PRUNED] = { "run.pruned", true },
	[ROW_HOLD] = { "hold.unfinished", false },
	[ROW_HOOK] = { "hook.unfinished", false },
	[ROW_CLAIM] = { "claim.all", false },
	[ROW_SALVAGE] = { "salvage.list", false },
	[ROW_GROUP] = { "group.all", false },
	[ROW_COOLDOWN] = { "cooldown.all", false },
	[ROW_SPEND] = { "spend.recent", false },
	[ROW_EVENT] = { "event.since", true },
	[ROW_SETTING] = { "setting.get", false },
};

static void set_text(char **at, const char *text)
{
	free(*at);
	*at = text != NULL ? xstrdup(text) : NULL;
}

/* Fields of a kind that are written once: they keep the values of the first row. */
static const struct {
	enum row_kind kind;
	const char *name;
} once[] = {
	{ ROW_HOLD, "task" }, { ROW_HOLD, "iteration" }, { ROW_HOLD, "slot" }, { ROW_HOLD, "kind" },
	{ ROW_HOLD, "reason" },
	{ ROW_HOLD, "attempt" }, { ROW_HOLD, "created_at" },
	{ ROW_HOOK, "name" }, { ROW_HOOK, "command" }, { ROW_HOOK, "environment" },
};

static bool is_once(enum row_kind kind, const char *name)
{
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++)
		if (once[i].kind == kind && strcmp(once[i].name, name) == 0)
			return true;
	return false;
}

static void fill_row_as_allowed(enum row_kind kind, void *row, int seed)
{
	const struct row_type *type = &row_types[kind];
	void *first = row_new(kind);

	fill_row(kind, row, seed);
	fill_row(kind, first, 1);
	for (size_t i = 0; i < type->nfields; i++) {
		const struct field *f = &type->fields[i];

		if (!is_once(kind, f->name))
			continue;
		if (f->kind == FIELD_TEXT || f->kind == FIELD_JSON) {
			free(*(char **)field_at(row, f));
			*(char **)field_at(row, f) = xstrdup(*(char **)field_at(first, f));
		} else if (f->kind == FIELD_STATE) {
			*(int *)field_at(row, f) = *(int *)field_at(first, f);
		} else {
			*(int64_t *)field_at(row, f) = *(int64_t *)field_at(first, f);
		}
	}
	row_free(kind, first);
}

/* A full row whose key and references fit those of the other kinds. */
static void *keyed_row(enum row_kind kind, int seed)
{
	void *row = row_new(kind);

	fill_row_as_allowed(kind, row, seed);
	switch (kind) {
	case ROW_RUN:
		((struct run_row *)row)->id = 5;
		((struct run_row *)row)->state = seed == 1 ? RUN_S_QUEUED : RUN_S_HELD;
		break;
	case ROW_TASK:
		((struct task_row *)row)->run = 5;
		set_text(&((struct task_row *)row)->id, "t1");
		if (seed == 1)	/* a lock is for ever: it comes with the second row */
			set_text(&((struct task_row *)row)->locked_ref, NULL),
			    set_text(&((struct task_row *)row)->locked_tree, NULL);
		break;
	case ROW_JUDGE:
		((struct judge_row *)row)->run = 5;
		break;
	case ROW_ITERATION:
		((struct iteration_row *)row)->run = 5;
		((struct iteration_row *)row)->number = 1;
		break;
	case ROW_SLOT:
		((struct slot_row *)row)->run = 5;
		((struct slot_row *)row)->iteration = 1;
		((struct slot_row *)row)->slot = 2;
		break;
	case ROW_ATTEMPT:
		((struct attempt_row *)row)->run = 5;
		((struct attempt_row *)row)->id = 11;
		break;
	case ROW_STEP:
		((struct step_row *)row)->run = 5;
		((struct step_row *)row)->id = 12;
		((struct step_row *)row)->state = seed == 1 ? ATTEMPT_S_STARTING : ATTEMPT_S_RUNNING;
		break;
	case ROW_REVIEW:
		((struct review_row *)row)->run = 5;
		((struct review_row *)row)->number = 1;
		break;
	case ROW_FINDING:
		((struct finding_row *)row)->run = 5;
		((struct finding_row *)row)->review = 1;
		break;
	case ROW_PRODUCT:
		((struct product_row *)row)->run = 5;
		((struct product_row *)row)->number = 1;
		break;
	case ROW_EVIDENCE:
		((struct evidence_row *)row)->run = 5;
		((struct evidence_row *)row)->number = 1;
		break;
	case ROW_ENTRY:
		((struct entry_row *)row)->run = 5;
		((struct entry_row *)row)->number = 1;
		break;
	case ROW_PRUNED:
		((struct pruned_row *)row)->run = 5;
		((struct pruned_row *)row)->done = ROW_NONE;
		break;
	case ROW_HOLD:
		((struct hold_row *)row)->run = 5;
		((struct hold_row *)row)->id = 21;
		break;
	case ROW_HOOK:
		((struct hook_row *)row)->run = 5;
		((struct hook_row *)row)->id = 13;
		((struct hook_row *)row)->state = seed == 1 ? ATTEMPT_S_STARTING : ATTEMPT_S_RUNNING;
		break;
	case ROW_CLAIM:
		((struct claim_row *)row)->run = 5;
		((struct claim_row *)row)->state = seed == 1 ? CLAIM_S_HELD : CLAIM_S_DONE;
		set_text(&((struct claim_row *)row)->source, "beads:/srv/a");
		set_text(&((struct claim_row *)row)->task, "bd-1");
		break;
	case ROW_SALVAGE:
		((struct salvage_row *)row)->run = 5;
		((struct salvage_row *)row)->id = 14;
		break;
	case ROW_GROUP:
		set_text(&((struct group_row *)row)->name, "nightly");
		break;
	case ROW_COOLDOWN:
		set_text(&((struct cooldown_row *)row)->account, "anthropic");
		break;
	case ROW_SPEND:
		set_text(&((struct spend_row *)row)->account, "anthropic");
		((struct spend_row *)row)->day = 20000;
		break;
	case ROW_EVENT:
		((struct event_row *)row)->seq = 1;
		break;
	case ROW_SETTING:
		set_text(&((struct setting_row *)row)->name, "colour");
		break;
	case ROW_KINDS:
		abort();
	}
	return row;
}

START_TEST(test_every_kind_comes_back)
{
	void *first[ROW_KINDS], *second[ROW_KINDS];
	struct decision *d = decision_new();
	struct query_bind since[] = { { ":since", 0, NULL }, { ":limit", 10, NULL }, { NULL, 0, NULL } };
	struct query_bind name[] = { { ":name", 0, "colour" }, { NULL, 0, NULL } };
	struct query_bind limit[] = { { ":limit", 10, NULL }, { NULL, 0, NULL } };
	struct query_bind run[] = { { ":run", 5, NULL }, { NULL, 0, NULL } };
	const struct query_bind *binds[ROW_KINDS] = { [ROW_EVENT] = since, [ROW_SETTING] = name,
	    [ROW_SALVAGE] = limit, [ROW_JUDGE] = run, [ROW_PRUNED] = run };
	struct world w;

	world_init(&w);
	world_open(&w);
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		first[kind] = keyed_row((enum row_kind)kind, 1);
		second[kind] = keyed_row((enum row_kind)kind, 2);
		decision_put(d, (enum row_kind)kind, first[kind]);
	}
	commit(&w, d, true);
	for (int turn = 0; turn < 2; turn++) {
		world_close(&w);
		world_open(&w);
		for (int kind = 0; kind < ROW_KINDS; kind++) {
			struct rowset set;
			void *want = turn == 1 && !kinds[kind].append_only ? second[kind] : first[kind];

			store_read_now(w.store, kinds[kind].statement, (enum row_kind)kind, binds[kind], &set);
			ck_assert_msg(set.count == 1, "%s: %zu rows", kinds[kind].statement, set.count);
			assert_rows_equal((enum row_kind)kind, want, set.rows[0], kind == ROW_TASK ? "text" : NULL);
			if (kind == ROW_TASK)
				ck_assert_ptr_null(((struct task_row *)set.rows[0])->text);
			rowset_release(&set);
		}
		if (turn == 1)
			break;
		d = decision_new();
		for (int kind = 0; kind < ROW_KINDS; kind++) {
			if (!kinds[kind].append_only)
				decision_put(d, (enum row_kind)kind, second[kind]);
		}
		commit(&w, d, true);
	}
	read_page(&w, "task.text", ROW_TASK, BINDS({ ":run", 5, NULL }, { ":id", 0, "t1" }));
	ck_assert_uint_eq(w.set.count, 1);
	ck_assert_str_eq(((struct task_row *)w.set.rows[0])->text, ((struct task_row *)first[ROW_TASK])->text);
	rowset_release(&w.set);
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		row_free((enum row_kind)kind, first[kind]);
		row_free((enum row_kind)kind, second[kind]);
	}
	world_end(&w);
}
END_TEST

/* What has no value comes back as having none, and a text that was written is not lost to
 * a row without it. */
START_TEST(test_no_value)
{
	struct attempt_row *attempt = row_new(ROW_ATTEMPT);
	struct decision *d = decision_new();
	struct world w;

	world_init(&w);
	world_open(&w);
	put_run(d, 1, 0, RUN_S_RUNNING);
	put_task(d, 1, "t1", "-rm \342\202\254 'quoted' \"text\"");
	put_task(d, 1, "t1", NULL);
	attempt->id = 1;
	attempt->run = 1;
	attempt->number = 1;
	attempt->uuid = xstrdup("u");
	decision_put(d, ROW_ATTEMPT, attempt);
	commit(&w, d, true);
	read_page(&w, "attempt.get", ROW_ATTEMPT, BINDS({ ":id", 1, NULL }));
	ck_assert_uint_eq(w.set.count, 1);
	assert_rows_equal(ROW_ATTEMPT, attempt, w.set.rows[0], NULL);
	rowset_release(&w.set);
	read_page(&w, "task.text", ROW_TASK, BINDS({ ":run", 1, NULL }, { ":id", 0, "t1" }));
	ck_assert_str_eq(((struct task_row *)w.set.rows[0])->text, "-rm \342\202\254 'quoted' \"text\"");
	rowset_release(&w.set);
	read_page(&w, "run.get", ROW_RUN, BINDS({ ":id", 2, NULL }));
	ck_assert_uint_eq(w.set.count, 0);
	rowset_release(&w.set);
	row_free(ROW_ATTEMPT, attempt);
	world_end(&w);
}
END_TEST

static const char *const forbidden[] = {
	"UPDATE review SET feedback = 'x'",
	"DELETE FROM review",
	"INSERT OR REPLACE INTO review SELECT * FROM review",
	"UPDATE finding SET text = 'x'",
	"DELETE FROM finding",
	"INSERT OR REPLACE INTO finding SELECT * FROM finding",
	"UPDATE product SET tree = 'x'",
	"DELETE FROM product",
	"INSERT OR REPLACE INTO product SELECT * FROM product",
	"UPDATE evidence SET result = 'green'",
	"DELETE FROM evidence",
	"INSERT OR REPLACE INTO evidence SELECT * FROM evidence",
	"UPDATE entry SET row_hash = 'x'",
	"DELETE FROM entry",
	"INSERT OR REPLACE INTO entry SELECT * FROM entry",
	"UPDATE plan SET text = 'x'",
	"DELETE FROM plan",
	"INSERT OR REPLACE INTO plan SELECT * FROM plan",
};

/* With the very settings of our connection. */
START_TEST(test_the_record_is_append_only)
{
	struct decision *d = decision_new();
	const char *setup = NULL;
	struct world w;
	sqlite3 *db;

	world_init(&w);
	world_open(&w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	for (int kind = ROW_REVIEW; kind <= ROW_ENTRY; kind++) {
		void *row = keyed_row((enum row_kind)kind, 1);

		decision_put(d, (enum row_kind)kind, row);
		row_free((enum row_kind)kind, row);
	}
	commit(&w, d, true);
	world_close(&w);
	for (size_t i = 0; i < sql_statements_count; i++) {
		if (strcmp(sql_statements[i].name, "connection.setup") == 0)
			setup = sql_statements[i].text;
	}
	db = peek(&w);
	ck_assert_int_eq(sqlite3_exec(db, setup, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, forbidden[_i], NULL, NULL, NULL), SQLITE_CONSTRAINT);
	ck_assert_ptr_nonnull(strstr(sqlite3_errmsg(db), "append-only"));
	ck_assert_int_eq(ask(db, "SELECT (SELECT count(*) FROM review) + (SELECT count(*) FROM finding) + "
	    "(SELECT count(*) FROM product) + (SELECT count(*) FROM evidence) + (SELECT count(*) FROM entry)"), 5);
	sqlite3_close(db);
	world_open(&w);
	world_end(&w);
}
END_TEST

/* Run body in a child; its exit status, and what it wrote on stderr. */
static int in_child(void (*body)(struct world *), struct world *w, char *words, size_t room)
{
	int pipes[2], status;
	ssize_t n;
	size_t size = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], STDERR_FILENO);
		body(w);
		_exit(0);
	}
	close(pipes[1]);
	while (size + 1 < room && (n = read(pipes[0], words + size, room - size - 1)) > 0)
		size += (size_t)n;
	words[size] = '\0';
	close(pipes[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void write_review_twice(struct world *w)
{
	struct decision *d = decision_new();
	void *review = keyed_row(ROW_REVIEW, 1);

	world_open(w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	decision_put(d, ROW_REVIEW, review);
	decision_put(d, ROW_REVIEW, review);
	commit(w, d, true);
}

static void write_without_run(struct world *w)
{
	struct decision *d = decision_new();

	world_open(w);
	put_task(d, 77, "t1", "text");
	commit(w, d, true);
}

static void share_an_id(struct world *w)
{
	struct decision *d = decision_new();
	struct step_row *step = keyed_row(ROW_STEP, 1);
	struct attempt_row *attempt = keyed_row(ROW_ATTEMPT, 1);

	world_open(w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	step->id = attempt->id;
	decision_put(d, ROW_ATTEMPT, attempt);
	decision_put(d, ROW_STEP, step);
	commit(w, d, true);
}

static void put_row(struct decision *d, enum row_kind kind, void *row)
{
	decision_put(d, kind, row);
	row_free(kind, row);
}

/* A hook, and then an attempt and a step, or the other way round, with one id. */
static void share_an_id_with_a_hook(struct world *w, enum row_kind first, enum row_kind second)
{
	struct decision *d = decision_new();

	world_open(w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	for (int turn = 0; turn < 2; turn++) {
		enum row_kind kind = turn == 0 ? first : second;
		void *row = keyed_row(kind, 1);

		*(int64_t *)row = 30;
		put_row(d, kind, row);
	}
	commit(w, d, true);
}

static void hook_then_attempt(struct world *w)
{
	share_an_id_with_a_hook(w, ROW_HOOK, ROW_ATTEMPT);
}

static void hook_then_step(struct world *w)
{
	share_an_id_with_a_hook(w, ROW_HOOK, ROW_STEP);
}

static void attempt_then_hook(struct world *w)
{
	share_an_id_with_a_hook(w, ROW_ATTEMPT, ROW_HOOK);
}

static void step_then_hook(struct world *w)
{
	share_an_id_with_a_hook(w, ROW_STEP, ROW_HOOK);
}

static void put_locked(struct decision *d, const char *tree)
{
	struct task_row *task = keyed_row(ROW_TASK, 2);

	set_text(&task->locked_tree, tree);
	put_row(d, ROW_TASK, task);
}

static void try_after_lock(struct world *w)
{
	struct decision *d = decision_new();
	struct attempt_row *attempt = keyed_row(ROW_ATTEMPT, 1);

	world_open(w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	put_locked(d, "tree");
	set_text(&attempt->task, "t1");
	put_row(d, ROW_ATTEMPT, attempt);
	commit(w, d, true);
}

static void change_a_lock(struct world *w)
{
	struct decision *d = decision_new();

	world_open(w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	put_locked(d, "tree");
	put_locked(d, "tree");
	put_locked(d, "other");
	commit(w, d, true);
}

static void hold_twice(struct world *w)
{
	struct decision *d = decision_new();

	world_open(w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	for (int64_t id = 1; id <= 2; id++) {
		struct hold_row *hold = keyed_row(ROW_HOLD, 1);

		hold->id = id;
		hold->state = id == 1 ? HOLD_S_REWORK : HOLD_S_OPEN;
		put_row(d, ROW_HOLD, hold);
	}
	commit(w, d, true);
}

static void put_claim(struct decision *d, const char *task, int64_t run, enum claim_state state)
{
	struct claim_row *claim = row_new(ROW_CLAIM);

	claim->source = xstrdup("beads:/srv/a");
	claim->task = xstrdup(task);
	claim->run = run;
	claim->state = state;
	claim->at = run;
	put_row(d, ROW_CLAIM, claim);
}

/* Ids of the kinds that share a counter. */
static void salvage_with(struct world *w, enum row_kind kind, bool first)
{
	struct decision *d = decision_new();
	struct salvage_row *salvage = keyed_row(ROW_SALVAGE, 1);

	world_open(w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	salvage->id = kind == ROW_ATTEMPT ? 11 : kind == ROW_STEP ? 12 : 13;
	if (first)
		put_row(d, ROW_SALVAGE, salvage);
	put_row(d, kind, keyed_row(kind, 1));
	if (!first)
		put_row(d, ROW_SALVAGE, salvage);
	commit(w, d, true);
}

static void salvage_then_attempt(struct world *w)
{
	salvage_with(w, ROW_ATTEMPT, true);
}

static void salvage_then_step(struct world *w)
{
	salvage_with(w, ROW_STEP, true);
}

static void salvage_then_hook(struct world *w)
{
	salvage_with(w, ROW_HOOK, true);
}

static void attempt_then_salvage(struct world *w)
{
	salvage_with(w, ROW_ATTEMPT, false);
}

static void step_then_salvage(struct world *w)
{
	salvage_with(w, ROW_STEP, false);
}

static void hook_then_salvage(struct world *w)
{
	salvage_with(w, ROW_HOOK, false);
}

static void steal_a_claim(struct world *w)
{
	struct decision *d = decision_new();

	world_open(w);
	for (int64_t run = 1; run <= 2; run++) {
		put_run(d, run, 0, RUN_S_RUNNING);
		put_claim(d, "bd-1", run, CLAIM_S_HELD);
	}
	commit(w, d, true);
}

static void ask_wrongly(struct world *w)
{
	world_open(w);
	read_page(w, "run.get", ROW_RUN, BINDS({ ":run", 1, NULL }));
}

static void read_unknown_state(struct world *w)
{
	struct decision *d = decision_new();
	sqlite3 *db;

	world_open(w);
	put_run(d, 1, 0, RUN_S_RUNNING);
	commit(w, d, true);
	world_close(w);
	db = peek(w);
	sqlite3_exec(db, "UPDATE run SET state = 'dancing'", NULL, NULL, NULL);
	sqlite3_close(db);
	world_open(w);
	read_page(w, "run.get", ROW_RUN, BINDS({ ":id", 1, NULL }));
}

static const struct {
	void (*body)(struct world *);
	const char *words;
} fatal[] = {
	{ write_review_twice, "rld.db: review.put: UNIQUE constraint failed" },
	{ write_without_run, "rld.db: task.put: FOREIGN KEY constraint failed" },
	{ share_an_id, "rld.db: step.put: an attempt has this id" },
	{ hook_then_attempt, "rld.db: attempt.put: a hook has this id" },
	{ hook_then_step, "rld.db: step.put: a hook has this id" },
	{ attempt_then_hook, "rld.db: hook.put: an attempt or a step has this id" },
	{ step_then_hook, "rld.db: hook.put: an attempt or a step has this id" },
	{ try_after_lock, "rld.db: attempt.put: the task has passed its review and is locked" },
	{ change_a_lock, "rld.db: task.put: the task has passed its review and is locked" },
	{ hold_twice, "rld.db: hold.put: UNIQUE constraint failed: hold.run, hold.task" },
	{ salvage_then_attempt, "rld.db: attempt.put: a salvage has this id" },
	{ salvage_then_step, "rld.db: step.put: a salvage has this id" },
	{ salvage_then_hook, "rld.db: hook.put: a salvage has this id" },
	{ attempt_then_salvage, "rld.db: salvage.put: an attempt, a step or a hook has this id" },
	{ step_then_salvage, "rld.db: salvage.put: an attempt, a step or a hook has this id" },
	{ hook_then_salvage, "rld.db: salvage.put: an attempt, a step or a hook has this id" },
	{ steal_a_claim, "rld.db: claim.put: another run works on this task" },
	{ ask_wrongly, "bug: statement run.get has no parameter :run" },
	{ read_unknown_state, "column state contains 'dancing', which is not a valid run state" },
};

/* Any error but lack of space ends the process and names the place; nothing of the
 * batch is recorded. */
START_TEST(test_error_ends_the_process)
{
	char words[1024];
	struct world w;
	sqlite3 *db;

	world_init(&w);
	ck_assert_int_eq(in_child(fatal[_i].body, &w, words, sizeof(words)), 1);
	ck_assert_msg(strstr(words, fatal[_i].words) != NULL, "%s", words);
	db = peek(&w);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM run"), fatal[_i].body == read_unknown_state);
	sqlite3_close(db);
	world_open(&w);
	world_end(&w);
}
END_TEST

static void tell(struct decision *d, int count)
{
	for (int i = 0; i < count; i++)
		decision_tell(d, 1, "daemon", ROW_NONE, "{}");
}

START_TEST(test_events_are_numbered)
{
	struct decision *d;
	int64_t first, last;
	struct world w;

	world_init(&w);
	world_open(&w);
	store_event_range(w.store, &first, &last);
	ck_assert(first == 0 && last == 0);
	for (int i = 0; i < 3; i++) {
		d = decision_new();
		tell(d, 4);
		commit(&w, d, true);
		ck_assert_int_eq(w.last_seq, 4 * (i + 1));
		store_event_range(w.store, &first, &last);
		ck_assert(first == 1 && last == w.last_seq);
		world_close(&w);
		world_open(&w);
		store_event_range(w.store, &first, &last);
		ck_assert(first == 1 && last == w.last_seq);
	}
	read_page(&w, "event.since", ROW_EVENT, BINDS({ ":since", 5, NULL }, { ":limit", 3, NULL }));
	ck_assert_uint_eq(w.set.count, 3);
	for (size_t i = 0; i < w.set.count; i++)
		ck_assert_int_eq(((struct event_row *)w.set.rows[i])->seq, 6 + (int64_t)i);
	rowset_release(&w.set);
	world_end(&w);
}
END_TEST

/* The newest million stays; what is above it goes in bites until it is so. */
START_TEST(test_old_events_go)
{
	int64_t first, last, before;
	struct decision *d;
	struct world w;
	sqlite3 *db;

	world_init(&w);
	world_open(&w);
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(sqlite3_exec(db,
	    "INSERT INTO event SELECT value, 1, 'daemon', NULL, '{}' FROM generate_series(1, 300);"
	    "INSERT INTO event VALUES (1000200, 1, 'daemon', NULL, '{}')", NULL, NULL, NULL), SQLITE_ERROR);
	ck_assert_int_eq(sqlite3_exec(db,
	    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
	    "INSERT INTO event SELECT i, 1, 'daemon', NULL, '{}' FROM n;"
	    "INSERT INTO event VALUES (1000200, 1, 'daemon', NULL, '{}')", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	world_open(&w);
	store_event_range(w.store, &first, &last);
	ck_assert(first == 1 && last == 1000200);
	do {
		before = first;
		d = decision_new();
		tell(d, 1);
		commit(&w, d, true);
		store_event_range(w.store, &first, &last);
		ck_assert(first > before && first - before < 100);
	} while (last - first >= 1000000);
	ck_assert_int_eq(last - first + 1, 1000000);
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(ask(db, "SELECT min(seq) FROM event"), first);
	sqlite3_close(db);
	world_open(&w);
	world_end(&w);
}
END_TEST

struct order {
	struct world *w;
	size_t want;
	bool read_came;
};

struct ordered {
	struct order *order;
	size_t number;
};

static void ordered_cb(void *arg, enum store_result result, struct decision *d)
{
	struct ordered *o = arg;

	ck_assert_int_eq(result, STORE_OK);
	ck_assert_uint_eq(o->number, o->order->want++);
	told_cb(o->order->w, result, d);
}

static void ordered_rows_cb(void *arg, struct rowset *set)
{
	struct order *order = arg;

	ck_assert_uint_eq(order->want, 1000);	/* after every decision handed over before it */
	ck_assert_uint_eq(set->count, 1);
	ck_assert_str_eq(((struct setting_row *)set->rows[0])->value, "999");
	rowset_release(set);
	order->read_came = true;
}

/* While the thread is busy with one long decision, a thousand wait: they share the next
 * commits, in order. */
START_TEST(test_group_commit)
{
	struct ordered ordered[1000];
	struct decision *d = decision_new();
	char *text = text_of(16 << 20);
	struct order order;
	struct world w;

	world_init(&w);
	world_open(&w);
	order = (struct order){ &w, 0, false };
	put_setting(d, "long", text);
	store_commit(w.store, d, true, told_cb, &w);
	for (size_t i = 0; i < 1000; i++) {
		char value[16];

		snprintf(value, sizeof(value), "%zu", i);
		d = decision_new();
		put_setting(d, "n", value);
		tell(d, 1);
		ordered[i] = (struct ordered){ &order, i };
		store_commit(w.store, d, true, ordered_cb, &ordered[i]);
	}
	store_read(w.store, "setting.get", ROW_SETTING, BINDS({ ":name", 0, "n" }), ordered_rows_cb, &order);
	while (!order.read_came)
		uv_run(&w.loop, UV_RUN_ONCE);
	ck_assert_uint_eq(w.told, 1001);
	ck_assert_int_eq(w.last_seq, 1000);
	ck_assert_msg(store_commits(w.store) <= 10, "%llu commits", (unsigned long long)store_commits(w.store));
	free(text);
	world_end(&w);
}
END_TEST

struct chain {
	struct world *w;
	int left;
};

/* Each report hands over the next decision. */
static void chain_cb(void *arg, enum store_result result, struct decision *d)
{
	struct chain *chain = arg;

	told_cb(chain->w, result, d);
	if (chain->left-- > 0) {
		d = decision_new();
		tell(d, 1);
		store_commit(chain->w->store, d, true, chain_cb, chain);
	}
}

START_TEST(test_close_records_what_waits)
{
	int64_t first, last;
	struct chain chain;
	struct decision *d;
	struct world w;

	world_init(&w);
	world_open(&w);
	for (int i = 0; i < 50; i++) {
		d = decision_new();
		tell(d, 1);
		store_commit(w.store, d, false, told_cb, &w);
	}
	chain = (struct chain){ &w, 10 };
	d = decision_new();
	tell(d, 1);
	store_commit(w.store, d, true, chain_cb, &chain);
	store_close(w.store);
	ck_assert_uint_eq(w.told, 61);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	world_open(&w);
	store_event_range(w.store, &first, &last);
	ck_assert_int_eq(last, 61);
	world_end(&w);
}
END_TEST

static void limit_files(rlim_t size)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What fits the page cache is first written at the end of the transaction, what does not before. */
static const size_t sizes[] = { 200 << 10, 2 << 20 };

/* The limit on the size of files stands for the full disk: writes fail in the same places. */
START_TEST(test_no_space)
{
	char *text = text_of(sizes[_i]);
	struct decision *d = decision_new();
	int64_t first, last;
	struct world w;
	sqlite3 *db;

	signal(SIGXFSZ, SIG_IGN);
	world_init(&w);
	world_open(&w);
	put_setting(d, "small", "before");
	tell(d, 1);
	commit(&w, d, true);

	limit_files(100 << 10);
	d = decision_new();
	tell(d, 2);
	put_setting(d, "big", text);
	commit(&w, d, true);
	ck_assert_uint_eq(w.refused, 1);
	ck_assert(w.full && w.space_news == 1);
	d = decision_new();		/* small as it is: refused at once */
	tell(d, 1);
	commit(&w, d, true);
	ck_assert_uint_eq(w.refused, 2);
	d = decision_new();		/* must not be refused: it waits */
	tell(d, 2);
	put_setting(d, "big", text);
	store_commit(w.store, d, false, told_cb, &w);
	read_page(&w, "setting.get", ROW_SETTING, BINDS({ ":name", 0, "small" }));
	ck_assert_uint_eq(w.set.count, 1);	/* reads go on */
	ck_assert_str_eq(((struct setting_row *)w.set.rows[0])->value, "before");
	rowset_release(&w.set);
	read_page(&w, "setting.get", ROW_SETTING, BINDS({ ":name", 0, "big" }));
	ck_assert_uint_eq(w.set.count, 0);
	rowset_release(&w.set);
	store_event_range(w.store, &first, &last);
	ck_assert_int_eq(last, 1);
	ck_assert_uint_eq(w.told, 3);

	limit_files(RLIM_INFINITY);
	wait_told(&w, 4);
	ck_assert_uint_eq(w.refused, 2);
	ck_assert(!w.full && w.space_news == 2);
	/* the numbers of what was rolled back are given again */
	ck_assert_int_eq(w.last_seq, 3);
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(ask(db, "SELECT length(value) FROM setting WHERE name = 'big'"), (int64_t)sizes[_i]);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM event"), 3);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM setting WHERE name <> 'instance'"), 2);
	sqlite3_close(db);
	free(text);
	world_open(&w);
	world_end(&w);
}
END_TEST

/* Space comes back while nothing waits: it is noticed all the same. Closing with a full disk
 * drops what waits. */
START_TEST(test_space_comes_back)
{
	char *text = text_of(2 << 20), words[1024];
	struct decision *d = decision_new();
	int saved, pipes[2];
	ssize_t n;
	struct world w;

	signal(SIGXFSZ, SIG_IGN);
	world_init(&w);
	world_open(&w);
	limit_files(100 << 10);
	put_setting(d, "big", text);
	commit(&w, d, true);
	ck_assert(w.full);
	limit_files(RLIM_INFINITY);
	while (w.full)
		uv_run(&w.loop, UV_RUN_ONCE);
	ck_assert_int_eq(w.space_news, 2);

	limit_files(100 << 10);
	d = decision_new();
	put_setting(d, "big", text);
	store_commit(w.store, d, false, told_cb, &w);
	while (!w.full)
		uv_run(&w.loop, UV_RUN_ONCE);
	ck_assert_int_eq(pipe(pipes), 0);
	saved = dup(STDERR_FILENO);
	dup2(pipes[1], STDERR_FILENO);
	world_close(&w);
	dup2(saved, STDERR_FILENO);
	n = read(pipes[0], words, sizeof(words) - 1);
	words[n > 0 ? n : 0] = '\0';
	ck_assert_ptr_nonnull(strstr(words, "1 decisions were not recorded"));
	ck_assert_uint_eq(w.told, 1);
	limit_files(RLIM_INFINITY);
	free(text);
	world_open(&w);
	world_end(&w);
}
END_TEST

static void write_file(const struct world *w, const char *data, size_t size)
{
	ck_assert_int_eq(file_write(AT_FDCWD, w->path, data, size, 0644, false), 0);
}

static void make_newer(struct world *w)
{
	char pragma[64];
	sqlite3 *db;

	world_open(w);
	world_close(w);
	db = peek(w);
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %zu", sql_migrations_count + 1);
	sqlite3_exec(db, pragma, NULL, NULL, NULL);
	sqlite3_close(db);
}

static void make_foreign(struct world *w)
{
	sqlite3 *db = peek(w);

	sqlite3_exec(db, "CREATE TABLE recipe (id INTEGER)", NULL, NULL, NULL);
	sqlite3_close(db);
}

static void make_text(struct world *w)
{
	char *text = text_of(5000);

	write_file(w, text, 5000);
	free(text);
}

static void make_corrupt(struct world *w)
{
	struct decision *d = decision_new();
	char junk[4096];
	struct stat st;
	int fd;

	world_open(w);
	for (int64_t i = 1; i <= 300; i++)
		put_run(d, i, 0, RUN_S_FAILED);
	commit(w, d, true);
	world_close(w);
	memset(junk, 0xa5, sizeof(junk));
	fd = open(w->path, O_WRONLY);
	fstat(fd, &st);
	for (off_t at = st.st_size / 2 / 4096 * 4096; at < st.st_size; at += 4096)
		ck_assert_int_eq(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
	close(fd);
}

static void make_missing_directory(struct world *w)
{
	strlcat(w->path, "/no/rld.db", sizeof(w->path));
}

static void make_directory(struct world *w)
{
	ck_assert_int_eq(mkdir(w->path, 0700), 0);
}

static void make_link(struct world *w)
{
	ck_assert_int_eq(symlink("/tmp/rld-elsewhere.db", w->path), 0);
}

static void make_fifo(struct world *w)
{
	ck_assert_int_eq(mkfifo(w->path, 0600), 0);
}

static const struct {
	void (*make)(struct world *);
	const char *words;
} refused[] = {
	{ make_newer, "written by a newer rld (schema " },
	{ make_foreign, "the database of another program: move it away" },
	{ make_text, "not a database: move it away" },
	{ make_corrupt, "damaged" },
	{ make_missing_directory, "its directory does not exist: create it" },
	{ make_directory, "there is a directory in its place: move it away" },
	{ make_link, "there is a symbolic link in its place: move it away" },
	{ make_fifo, "not a regular file: move it away" },
};

/* A database that cannot be used is left alone, byte for byte, and said so with file and remedy. */
START_TEST(test_refused)
{
	char *before = NULL, *after = NULL, path[96];
	size_t size = 0, size_after = 0;
	bool is_file;
	struct world w;

	world_init(&w);
	snprintf(path, sizeof(path), "%s", w.path);
	refused[_i].make(&w);
	is_file = file_read(AT_FDCWD, w.path, 16 << 20, &before, &size) == 0;
	ck_assert(!try_open(&w));
	ck_assert_msg(strncmp(w.error, path, strlen(path)) == 0, "%s", w.error);
	ck_assert_msg(strstr(w.error, refused[_i].words) != NULL, "%s", w.error);
	if (is_file) {
		ck_assert_int_eq(file_read(AT_FDCWD, w.path, 16 << 20, &after, &size_after), 0);
		ck_assert(size == size_after && memcmp(before, after, size) == 0);
	}
	free(before);
	free(after);
	rmdir(path);
	world_end(&w);
}
END_TEST

START_TEST(test_only_ours)
{
	struct world w, other;
	struct stat st;
	char wal[112];

	world_init(&w);
	umask(0);
	world_open(&w);
	ck_assert(stat(w.path, &st) == 0 && (st.st_mode & 07777) == 0600);
	snprintf(wal, sizeof(wal), "%s-wal", w.path);
	ck_assert(stat(wal, &st) == 0 && (st.st_mode & 07777) == 0600);
	other = w;
	other.store = NULL;
	ck_assert(!try_open(&other));
	ck_assert_msg(strstr(other.error, "in use by another process: end that process first") != NULL,
	    "%s", other.error);
	world_close(&w);
	ck_assert_int_eq(chmod(w.path, 0666), 0);
	world_open(&w);
	ck_assert(stat(w.path, &st) == 0 && (st.st_mode & 07777) == 0600);
	world_end(&w);
}
END_TEST

static const char *const otherwise[] = { "PRAGMA journal_mode = DELETE",
    "PRAGMA journal_mode = TRUNCATE", "PRAGMA journal_mode = PERSIST", "VACUUM INTO" };

/* A copy by VACUUM INTO, or a database whose journal another tool has changed, is
 * opened like any other. */
START_TEST(test_not_in_wal_mode)
{
	bool copy = strcmp(otherwise[_i], "VACUUM INTO") == 0;
	struct stat st;
	struct world w;
	char wal[112], text[256];
	sqlite3 *db;

	world_init(&w);
	world_open(&w);
	world_close(&w);
	snprintf(wal, sizeof(wal), "%s-wal", w.path);
	snprintf(text, sizeof(text), copy ? "VACUUM INTO '%s-copy'" : "%s", copy ? w.path : otherwise[_i]);
	ck_assert_int_eq(sqlite3_open(w.path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	snprintf(text, sizeof(text), "%s-copy", w.path);
	if (copy)
		ck_assert_int_eq(rename(text, w.path), 0);
	unlink(wal);
	ck_assert_msg(try_open(&w), "%s", w.error);
	ck_assert_int_eq(stat(wal, &st), 0);
	world_end(&w);
}
END_TEST

struct writer {
	struct world *w;
	int out;
	int64_t next;
};

static void write_next(struct writer *writer);

/* Acknowledge to the parent, as the daemon would to its client. */
static void acked_cb(void *arg, enum store_result result, struct decision *d)
{
	struct writer *writer = arg;
	int64_t id = ((struct run_row *)d->changes[0].row)->id;

	if (result != STORE_OK || write(writer->out, &id, sizeof(id)) != sizeof(id))
		_exit(2);
	decision_release(d);
	free(d);
	write_next(writer);
}

static void write_next(struct writer *writer)
{
	struct decision *d = decision_new();

	put_run(d, writer->next, 0, RUN_S_QUEUED);
	put_task(d, writer->next, "t1", "text");
	tell(d, 2);
	writer->next++;
	store_commit(writer->w->store, d, true, acked_cb, writer);
}

/* Killed in the middle of its writes: what was acknowledged is there, whole, and
 * numbered without a gap. */
START_TEST(test_kill)
{
	int64_t acked = 0, id, last = 0;
	struct world w;
	sqlite3 *db;

	world_init(&w);
	for (int round = 0; round < 10; round++) {
		struct writer writer = { &w, -1, last + 1 };
		int pipes[2], status;
		pid_t pid;

		ck_assert_int_eq(pipe(pipes), 0);
		pid = fork();
		if (pid == 0) {
			close(pipes[0]);
			writer.out = pipes[1];
			world_open(&w);
			for (int i = 0; i < 8; i++)
				write_next(&writer);
			uv_run(&w.loop, UV_RUN_DEFAULT);
			_exit(3);
		}
		close(pipes[1]);
		for (int i = 0; i < 50 + 30 * round; i++) {
			ck_assert_int_eq(read(pipes[0], &id, sizeof(id)), sizeof(id));
			ck_assert(id == acked + 1 || id > acked);
			acked = id;
		}
		kill(pid, SIGKILL);
		while (read(pipes[0], &id, sizeof(id)) == sizeof(id))
			acked = id;
		close(pipes[0]);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

		world_open(&w);
		world_close(&w);
		db = peek(&w);
		last = ask(db, "SELECT max(id) FROM run");
		ck_assert_msg(last >= acked, "acknowledged %lld, found %lld", (long long)acked, (long long)last);
		ck_assert_int_eq(ask(db, "SELECT count(*) FROM run"), last);
		ck_assert_int_eq(ask(db, "SELECT count(*) FROM task_text"), last);
		ck_assert_int_eq(ask(db, "SELECT count(*) FROM event"), 2 * last);
		ck_assert_int_eq(ask(db, "SELECT max(seq) FROM event"), 2 * last);
		ck_assert_int_eq(ask(db,
		    "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
		sqlite3_close(db);
	}
	world_open(&w);
	world_end(&w);
}
END_TEST

/* 1000 runs of two owners, in the three end states and one other. */
static void fill_history(struct world *w)
{
	static const enum run_state states[] = { RUN_S_SUCCEEDED, RUN_S_FAILED, RUN_S_CANCELLED, RUN_S_HELD };
	struct decision *d = decision_new();

	for (int64_t id = 1; id <= 1000; id++)
		put_run(d, id, 1000 + id / 500, states[id % 4]);
	commit(w, d, true);
}

static const struct {
	const char *state;
	int64_t owner;
} lists[] = { { NULL, ROW_NONE }, { "held", ROW_NONE }, { NULL, 1001 }, { "failed", 1000 }, { "queued", ROW_NONE } };

/* Pages of 100, followed by their last id, give every run that fits once, newest first. */
START_TEST(test_run_list)
{
	int64_t before = ROW_NONE;
	size_t count = 0, want = 0;
	struct world w;

	world_init(&w);
	world_open(&w);
	fill_history(&w);
	do {
		read_page(&w, "run.list", ROW_RUN, BINDS({ ":state", ROW_NONE, lists[_i].state },
		    { ":owner", lists[_i].owner, NULL }, { ":before", before, NULL }, { ":limit", 100, NULL }));
		ck_assert_uint_le(w.set.count, 100);
		for (size_t i = 0; i < w.set.count; i++) {
			struct run_row *run = w.set.rows[i];

			ck_assert(before == ROW_NONE || run->id < before);
			ck_assert(lists[_i].state == NULL ||
			    run->state == state_value(&run_state_names, lists[_i].state));
			ck_assert(lists[_i].owner == ROW_NONE || run->owner == lists[_i].owner);
			before = run->id;
			count++;
		}
		want = w.set.count;
		rowset_release(&w.set);
	} while (want > 0);
	for (int64_t id = 1; id <= 1000; id++) {
		bool state = lists[_i].state == NULL || (strcmp(lists[_i].state, "held") == 0 && id % 4 == 3) ||
		    (strcmp(lists[_i].state, "failed") == 0 && id % 4 == 1);

		want += state && (lists[_i].owner == ROW_NONE || lists[_i].owner == 1000 + id / 500);
	}
	ck_assert_uint_eq(count, want);
	read_page(&w, "run.list", ROW_RUN, BINDS({ ":limit", 5000, NULL }));
	ck_assert_uint_eq(w.set.count, STORE_PAGE);
	ck_assert_int_eq(((struct run_row *)w.set.rows[0])->id, 1000);
	rowset_release(&w.set);
	world_end(&w);
}
END_TEST

/* None, then one for every third, then one each: a page may end between tasks of one place. */
static int64_t task_position(int64_t run, int64_t n)
{
	return run == 3 && n <= 20 ? ROW_NONE : n < 300 ? n / 3 : n;
}

/* What is paged, with 600 rows of one run and some of another. */
static void put_many(struct decision *d, enum row_kind kind, int64_t run, int64_t n)
{
	void *row = keyed_row(kind, 1);

	switch (kind) {
	case ROW_TASK:
		((struct task_row *)row)->run = run;
		free(((struct task_row *)row)->id);
		((struct task_row *)row)->id = xasprintf("t%lld", (long long)n);
		((struct task_row *)row)->position = task_position(run, n);
		break;
	case ROW_ITERATION:
		((struct iteration_row *)row)->run = run;
		((struct iteration_row *)row)->number = n;
		break;
	case ROW_SLOT:
		((struct slot_row *)row)->run = run;
		((struct slot_row *)row)->iteration = 1 + n / 7;
		((struct slot_row *)row)->slot = n % 7;
		break;
	case ROW_ATTEMPT:
		((struct attempt_row *)row)->run = run;
		((struct attempt_row *)row)->id = run * 1000 + n;
		((struct attempt_row *)row)->number = n;
		free(((struct attempt_row *)row)->uuid);
		((struct attempt_row *)row)->uuid = xasprintf("%lld/%lld", (long long)run, (long long)n);
		break;
	case ROW_REVIEW:
		((struct review_row *)row)->run = run;
		((struct review_row *)row)->number = n;
		break;
	case ROW_FINDING:
		((struct finding_row *)row)->run = run;
		((struct finding_row *)row)->review = 1 + n / 7;
		((struct finding_row *)row)->number = n % 7;
		break;
	case ROW_PRODUCT:
		((struct product_row *)row)->run = run;
		((struct product_row *)row)->number = n;
		break;
	case ROW_EVIDENCE:
		((struct evidence_row *)row)->run = run;
		((struct evidence_row *)row)->number = n;
		break;
	case ROW_ENTRY:
		((struct entry_row *)row)->run = run;
		((struct entry_row *)row)->number = n;
		break;
	case ROW_HOLD:
		((struct hold_row *)row)->run = run;
		((struct hold_row *)row)->id = run * 1000 + n;
		((struct hold_row *)row)->state = n % 3 == 0 ? HOLD_S_OPEN : HOLD_S_REJECTED;
		free(((struct hold_row *)row)->task);
		((struct hold_row *)row)->task = xasprintf("t%lld", (long long)n);
		break;
	case ROW_SALVAGE:
		((struct salvage_row *)row)->run = run;
		((struct salvage_row *)row)->id = run * 1000 + n;
		break;
	case ROW_RUN:
	case ROW_PRUNED:
	case ROW_JUDGE:
	case ROW_HOOK:
	case ROW_STEP:
	case ROW_CLAIM:
	case ROW_GROUP:
	case ROW_COOLDOWN:
	case ROW_SPEND:
	case ROW_EVENT:
	case ROW_SETTING:
	case ROW_KINDS:
		abort();
	}
	decision_put(d, kind, row);
	row_free(kind, row);
}

static int64_t place_of(enum row_kind kind, const void *row)
{
	switch (kind) {
	case ROW_TASK:
		return strtoll(((const struct task_row *)row)->id + 1, NULL, 10);
	case ROW_ITERATION:
		return ((const struct iteration_row *)row)->number;
	case ROW_SLOT:
		return (((const struct slot_row *)row)->iteration - 1) * 7 + ((const struct slot_row *)row)->slot;
	case ROW_ATTEMPT:
		return ((const struct attempt_row *)row)->number;
	case ROW_REVIEW:
		return ((const struct review_row *)row)->number;
	case ROW_FINDING:
		return (((const struct finding_row *)row)->review - 1) * 7 + ((const struct finding_row *)row)->number;
	case ROW_PRODUCT:
		return ((const struct product_row *)row)->number;
	case ROW_EVIDENCE:
		return ((const struct evidence_row *)row)->number;
	case ROW_ENTRY:
		return ((const struct entry_row *)row)->number;
	case ROW_HOLD:
		return ((const struct hold_row *)row)->id % 1000;
	case ROW_RUN:
	case ROW_PRUNED:
	case ROW_JUDGE:
	case ROW_STEP:
	case ROW_HOOK:
	case ROW_CLAIM:
	case ROW_SALVAGE:
	case ROW_GROUP:
	case ROW_COOLDOWN:
	case ROW_SPEND:
	case ROW_EVENT:
	case ROW_SETTING:
	case ROW_KINDS:
		break;
	}
	abort();
}

static const struct {
	const char *statement;
	enum row_kind kind;
} paged[] = {
	{ "run.tasks", ROW_TASK },
	{ "run.iterations", ROW_ITERATION },
	{ "run.slots", ROW_SLOT },
	{ "run.attempts", ROW_ATTEMPT },
	{ "run.reviews", ROW_REVIEW },
	{ "run.findings", ROW_FINDING },
	{ "run.products", ROW_PRODUCT },
	{ "run.evidence", ROW_EVIDENCE },
	{ "run.entries", ROW_ENTRY },
	{ "run.holds", ROW_HOLD },
};

START_TEST(test_pages_of_a_run)
{
	enum row_kind kind = paged[_i].kind;
	struct decision *d = decision_new();
	int64_t after = ROW_NONE, want = 1;
	size_t pages = 0;
	struct world w;

	world_init(&w);
	world_open(&w);
	for (int64_t run = 1; run <= 3; run++)
		put_run(d, run, 0, RUN_S_FAILED);
	for (int64_t n = 1; n <= 600; n++) {
		for (int64_t run = 1; run <= 3; run += 1 + (n > 50)) {
			if (kind == ROW_FINDING)
				put_many(d, ROW_REVIEW, run, n);
			put_many(d, kind, run, n);
		}
	}
	commit(&w, d, true);
	do {
		read_page(&w, paged[_i].statement, kind, BINDS({ ":run", 3, NULL }, { ":after", after, NULL }));
		pages++;
		for (size_t i = 0; i < w.set.count; i++)
			ck_assert_int_eq(place_of(kind, w.set.rows[i]), want++);
		after = w.set.after;
		rowset_release(&w.set);
	} while (after != ROW_NONE);
	ck_assert_int_eq(want, 601);
	ck_assert_uint_eq(pages, 3);
	read_page(&w, paged[_i].statement, kind, BINDS({ ":run", 2, NULL }));
	ck_assert_uint_eq(w.set.count, 50);
	ck_assert_int_eq(w.set.after, ROW_NONE);
	rowset_release(&w.set);
	world_end(&w);
}
END_TEST

static const struct {
	int64_t run;
	const char *state;
	size_t want;
} hold_lists[] = { { ROW_NONE, NULL, 450 }, { 2, NULL, 150 }, { ROW_NONE, "open", 150 },
    { 3, "rejected", 100 }, { 3, "approved", 0 }, { 4, NULL, 0 } };

/* Newest first, each once, in pages that the id of the last row continues. */
START_TEST(test_hold_list)
{
	struct decision *d = decision_new();
	int64_t before = ROW_NONE;
	size_t count = 0, got;
	struct world w;

	world_init(&w);
	world_open(&w);
	for (int64_t run = 1; run <= 4; run++)
		put_run(d, run, 0, run == 1 ? RUN_S_FAILED : RUN_S_HELD);
	for (int64_t n = 1; n <= 150; n++)
		for (int64_t run = 1; run <= 3; run++)
			put_many(d, ROW_HOLD, run, n);
	commit(&w, d, true);
	do {
		read_page(&w, "hold.list", ROW_HOLD, BINDS({ ":run", hold_lists[_i].run, NULL },
		    { ":state", ROW_NONE, hold_lists[_i].state }, { ":before", before, NULL }, { ":limit", 40, NULL }));
		got = w.set.count;
		ck_assert_uint_le(got, 40);
		for (size_t i = 0; i < got; i++) {
			struct hold_row *hold = w.set.rows[i];

			ck_assert(before == ROW_NONE || hold->id < before);
			ck_assert(hold_lists[_i].run == ROW_NONE || hold->run == hold_lists[_i].run);
			ck_assert(hold_lists[_i].state == NULL ||
			    hold->state == state_value(&hold_state_names, hold_lists[_i].state));
			before = hold->id;
			count++;
		}
		rowset_release(&w.set);
	} while (got > 0);
	ck_assert_uint_eq(count, hold_lists[_i].want);
	read_page(&w, "hold.get", ROW_HOLD, BINDS({ ":id", 2007, NULL }));
	ck_assert_uint_eq(w.set.count, 1);
	ck_assert_int_eq(((struct hold_row *)w.set.rows[0])->run, 2);
	rowset_release(&w.set);
	world_close(&w);
	world_open(&w);
	store_read_now(w.store, "hold.unfinished", ROW_HOLD, NULL, &w.set);
	ck_assert_uint_eq(w.set.count, 300);	/* not those of run 1, which has ended */
	for (size_t i = 0; i < 300; i++)
		ck_assert_int_eq(((struct hold_row *)w.set.rows[i])->id,
		    2001 + (int64_t)i / 150 * 1000 + (int64_t)i % 150);
	rowset_release(&w.set);
	world_end(&w);
}
END_TEST

/* Not in the order in which they came. */
START_TEST(test_tasks_in_order)
{
	static const char *const ids[] = { "c", "a", "d", "b" }, *const want[] = { "b", "a", "d", "c" };
	static const int64_t positions[] = { 3, 2, 2, 1 };
	struct decision *d = decision_new();
	struct world w;

	world_init(&w);
	world_open(&w);
	put_run(d, 1, 0, RUN_S_RUNNING);
	for (size_t i = 0; i < 4; i++) {
		struct task_row *task = row_new(ROW_TASK);

		task->run = 1;
		task->id = xstrdup(ids[i]);
		task->position = positions[i];
		task->state = i < 2 ? TASK_S_FAILED : TASK_S_PASSED;
		put_row(d, ROW_TASK, task);
	}
	commit(&w, d, true);
	read_page(&w, "run.tasks", ROW_TASK, BINDS({ ":run", 1, NULL }));
	ck_assert_uint_eq(w.set.count, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_str_eq(((struct task_row *)w.set.rows[i])->id, want[i]);
	rowset_release(&w.set);
	/* of each state the first task, and the number */
	read_page(&w, "run.outline", ROW_TASK, BINDS({ ":runs", ROW_NONE, "[7,1]" }));
	ck_assert_uint_eq(w.set.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct task_row *task = w.set.rows[i];

		ck_assert_int_eq(task->run, 1);
		ck_assert_int_eq(task->size, 2);
		ck_assert_str_eq(task->id, task->state == TASK_S_PASSED ? "b" : "a");
	}
	rowset_release(&w.set);
	world_close(&w);
	world_open(&w);
	store_read_now(w.store, "task.unfinished", ROW_TASK, NULL, &w.set);
	ck_assert_uint_eq(w.set.count, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_str_eq(((struct task_row *)w.set.rows[i])->id, want[i]);
	rowset_release(&w.set);
	world_end(&w);
}
END_TEST

/* What keeps others off is read at start, also when its run has ended; what was given back may be
 * had by the next. */
START_TEST(test_claims_at_start)
{
	struct decision *d = decision_new();
	struct claim_row *claim;
	struct world w;

	world_init(&w);
	world_open(&w);
	put_run(d, 1, 0, RUN_S_RUNNING);
	put_run(d, 2, 0, RUN_S_FAILED);
	put_claim(d, "held", 1, CLAIM_S_HELD);
	put_claim(d, "done", 2, CLAIM_S_DONE);
	put_claim(d, "free", 2, CLAIM_S_FREE);
	put_claim(d, "again", 2, CLAIM_S_HELD);
	put_claim(d, "again", 2, CLAIM_S_FREE);
	put_claim(d, "again", 1, CLAIM_S_HELD);
	commit(&w, d, true);
	world_close(&w);
	world_open(&w);
	store_read_now(w.store, "claim.all", ROW_CLAIM, NULL, &w.set);
	ck_assert_uint_eq(w.set.count, 3);
	claim = w.set.rows[0];
	ck_assert_str_eq(claim->task, "again");
	ck_assert(claim->run == 1 && claim->at == 1 && claim->state == CLAIM_S_HELD);
	claim = w.set.rows[1];
	ck_assert_str_eq(claim->task, "done");
	ck_assert(claim->run == 2 && claim->state == CLAIM_S_DONE);
	ck_assert_str_eq(((struct claim_row *)w.set.rows[2])->task, "held");
	rowset_release(&w.set);
	world_end(&w);
}
END_TEST

static const struct {
	int64_t run;
	size_t want;
} salvage_lists[] = { { ROW_NONE, 450 }, { 2, 150 }, { 4, 0 } };

/* Newest first, each once, in pages that the id of the last row continues. */
START_TEST(test_salvage_list)
{
	struct decision *d = decision_new();
	int64_t before = ROW_NONE;
	size_t count = 0, got;
	struct world w;

	world_init(&w);
	world_open(&w);
	for (int64_t run = 1; run <= 4; run++)
		put_run(d, run, 0, RUN_S_FAILED);
	for (int64_t n = 1; n <= 150; n++)
		for (int64_t run = 1; run <= 3; run++)
			put_many(d, ROW_SALVAGE, run, n);
	commit(&w, d, true);
	do {
		read_page(&w, "salvage.list", ROW_SALVAGE, BINDS({ ":run", salvage_lists[_i].run, NULL },
		    { ":before", before, NULL }, { ":limit", 40, NULL }));
		got = w.set.count;
		ck_assert_uint_le(got, 40);
		for (size_t i = 0; i < got; i++) {
			struct salvage_row *salvage = w.set.rows[i];

			ck_assert(before == ROW_NONE || salvage->id < before);
			ck_assert(salvage_lists[_i].run == ROW_NONE || salvage->run == salvage_lists[_i].run);
			before = salvage->id;
			count++;
		}
		rowset_release(&w.set);
	} while (got > 0);
	ck_assert_uint_eq(count, salvage_lists[_i].want);
	world_end(&w);
}
END_TEST

/* Also those of runs that have ended: what they tell of is the end. */
START_TEST(test_unfinished_hooks)
{
	struct decision *d = decision_new();
	struct world w;

	world_init(&w);
	world_open(&w);
	put_run(d, 1, 0, RUN_S_SUCCEEDED);
	put_run(d, 2, 0, RUN_S_HELD);
	for (int64_t n = 0; n < 4 * ATTEMPT_STATES; n++) {
		struct hook_row *hook = keyed_row(ROW_HOOK, 1);

		hook->id = 100 - n;
		hook->run = 1 + n % 2;
		hook->state = (int)(n / 4);
		free(hook->uuid);
		hook->uuid = xasprintf("%lld", (long long)n);
		put_row(d, ROW_HOOK, hook);
	}
	commit(&w, d, true);
	world_close(&w);
	world_open(&w);
	store_read_now(w.store, "hook.unfinished", ROW_HOOK, NULL, &w.set);
	ck_assert_uint_eq(w.set.count, 8);
	for (size_t i = 0; i < 8; i++) {
		struct hook_row *hook = w.set.rows[i];

		ck_assert_int_eq(hook->id, 93 + (int64_t)i);
		ck_assert_int_eq(hook->state, i < 4 ? ATTEMPT_S_RUNNING : ATTEMPT_S_STARTING);
	}
	rowset_release(&w.set);
	world_end(&w);
}
END_TEST

static int64_t counter(struct world *w, const char *name)
{
	struct rowset set;
	int64_t value = -1;

	store_read_now(w->store, "counters", ROW_SETTING, NULL, &set);
	for (size_t i = 0; i < set.count; i++) {
		struct setting_row *row = set.rows[i];

		if (strcmp(row->name, name) == 0)
			value = strtoll(row->value, NULL, 10);
	}
	rowset_release(&set);
	return value;
}

/* An id is never used again, not even when its row is gone. Only unfinished runs are
 * read at start. */
/* What never began goes, and something with the same uuid and place takes another number in
 * the same decision. */
START_TEST(test_dropped)
{
	static const enum row_kind dropped[] = { ROW_ATTEMPT, ROW_STEP, ROW_HOOK };
	static const char *const all[] = { "attempt.unfinished", "step.unfinished", "hook.unfinished" };
	struct decision *d = decision_new();
	struct world w;

	world_init(&w);
	world_open(&w);
	put_run(d, 5, 0, RUN_S_RUNNING);
	commit(&w, d, true);
	for (int64_t i = 0; i < 3; i++) {
		void *row = keyed_row(dropped[i], 1);

		for (int64_t id = 20 + 10 * i; id < 22 + 10 * i; id++) {
			d = decision_new();
			if (id % 10 == 1)
				decision_drop(d, dropped[i], row);
			*(int64_t *)row = id;
			decision_put(d, dropped[i], row);
			commit(&w, d, true);
		}
		row_free(dropped[i], row);
	}
	world_close(&w);
	world_open(&w);
	for (int64_t i = 0; i < 3; i++) {
		struct rowset set;

		store_read_now(w.store, all[i], dropped[i], NULL, &set);
		for (size_t n = 0; n < set.count; n++)
			ck_assert_int_eq(*(const int64_t *)set.rows[n], 21 + 10 * i);
		if (dropped[i] == ROW_ATTEMPT)
			ck_assert_uint_eq(set.count, 1);
		rowset_release(&set);
	}
	ck_assert_int_eq(counter(&w, "last_attempt"), 41);
	world_end(&w);
}
END_TEST

START_TEST(test_counters_and_unfinished)
{
	struct decision *d = decision_new();
	struct salvage_row *salvage;
	struct attempt_row *attempt;
	struct hook_row *hook;
	struct rowset set;
	struct world w;
	sqlite3 *db;

	world_init(&w);
	world_open(&w);
	ck_assert_int_eq(counter(&w, "last_run"), 0);
	ck_assert_int_eq(counter(&w, "last_attempt"), 0);
	ck_assert_int_eq(counter(&w, "last_hold"), 0);
	for (int64_t run = 1; run <= 600; run++) {
		put_run(d, run, 0, run % 2 == 0 ? RUN_S_SUCCEEDED : RUN_S_HELD);
		put_many(d, ROW_TASK, run, 1);
	}
	put_run(d, 5, 0, RUN_S_RUNNING);
	for (int kind = ROW_ATTEMPT; kind <= ROW_STEP; kind++) {
		void *row = keyed_row((enum row_kind)kind, 1);

		decision_put(d, (enum row_kind)kind, row);
		row_free((enum row_kind)kind, row);
	}
	commit(&w, d, true);
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM step; DELETE FROM task_text; DELETE FROM task WHERE run = 600;"
	    "DELETE FROM run WHERE id = 600", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	world_open(&w);
	ck_assert_int_eq(counter(&w, "last_run"), 600);
	ck_assert_int_eq(counter(&w, "last_attempt"), 12);
	d = decision_new();
	attempt = keyed_row(ROW_ATTEMPT, 2);
	attempt->id = 13;
	decision_put(d, ROW_ATTEMPT, attempt);
	row_free(ROW_ATTEMPT, attempt);
	commit(&w, d, true);
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM attempt", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	world_open(&w);
	ck_assert_int_eq(counter(&w, "last_attempt"), 13);
	ck_assert_int_eq(counter(&w, "last_hold"), 0);
	d = decision_new();
	hook = keyed_row(ROW_HOOK, 1);
	hook->id = 14;
	put_row(d, ROW_HOOK, hook);
	put_row(d, ROW_HOLD, keyed_row(ROW_HOLD, 1));
	commit(&w, d, true);
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM hook; DELETE FROM hold", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	world_open(&w);
	ck_assert_int_eq(counter(&w, "last_attempt"), 14);
	ck_assert_int_eq(counter(&w, "last_hold"), 21);
	d = decision_new();
	salvage = keyed_row(ROW_SALVAGE, 1);
	salvage->id = 15;
	put_row(d, ROW_SALVAGE, salvage);
	commit(&w, d, true);
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM salvage", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	world_open(&w);
	ck_assert_int_eq(counter(&w, "last_attempt"), 15);
	store_read_now(w.store, "run.unfinished", ROW_RUN, NULL, &set);
	ck_assert_uint_eq(set.count, 300);
	for (size_t i = 0; i < set.count; i++)
		ck_assert_int_eq(((struct run_row *)set.rows[i])->id, 2 * (int64_t)i + 1);
	rowset_release(&set);
	store_read_now(w.store, "task.unfinished", ROW_TASK, NULL, &set);
	ck_assert_uint_eq(set.count, 300);
	rowset_release(&set);
	world_end(&w);
}
END_TEST

START_TEST(test_run_by_key)
{
	struct decision *d = decision_new();
	struct run_row *run = keyed_row(ROW_RUN, 1);
	struct world w;

	world_init(&w);
	world_open(&w);
	run->owner = 1000;
	set_text(&run->key, "nightly");
	decision_put(d, ROW_RUN, run);
	run->owner = 1001;
	run->id = 6;
	decision_put(d, ROW_RUN, run);
	commit(&w, d, true);
	read_page(&w, "run.by_key", ROW_RUN, BINDS({ ":owner", 1001, NULL }, { ":key", 0, "nightly" }));
	ck_assert_uint_eq(w.set.count, 1);
	ck_assert_int_eq(((struct run_row *)w.set.rows[0])->id, 6);
	rowset_release(&w.set);
	read_page(&w, "run.by_key", ROW_RUN, BINDS({ ":owner", 1001, NULL }, { ":key", 0, "weekly" }));
	ck_assert_uint_eq(w.set.count, 0);
	rowset_release(&w.set);
	row_free(ROW_RUN, run);
	world_end(&w);
}
END_TEST

static void put_planned(struct decision *d, int64_t id, const char *plan)
{
	struct run_row *run = keyed_row(ROW_RUN, 1);

	run->id = id;
	set_text(&run->key, NULL);
	set_text(&run->plan, plan);
	decision_put(d, ROW_RUN, run);
	row_free(ROW_RUN, run);
}

static void expect_plan(struct world *w, int64_t id, const char *plan)
{
	read_page(w, "run.get", ROW_RUN, BINDS({ ":id", id, NULL }));
	ck_assert_uint_eq(w->set.count, 1);
	ck_assert_str_eq(((struct run_row *)w->set.rows[0])->plan, plan);
	rowset_release(&w->set);
}

/* More of them than hashes are remembered, twice over; and the text of an earlier version. */
START_TEST(test_plans_are_stored_once)
{
	struct decision *d;
	struct world w;
	char plan[64];
	sqlite3 *db;

	world_init(&w);
	for (int turn = 0; turn < 2; turn++) {
		world_open(&w);
		d = decision_new();
		for (int id = 0; id < 100; id++) {
			snprintf(plan, sizeof(plan), "{\"sort\":%d}", (id + turn) % 40);
			put_planned(d, 1 + id, plan);
		}
		commit(&w, d, true);
		expect_plan(&w, 100, plan);
		world_close(&w);
	}
	db = peek(&w);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM plan"), 40);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM run WHERE length(plan) = 64"), 100);
	ck_assert_int_eq(sqlite3_exec(db, "UPDATE run SET plan = '{\"early\":1}' WHERE id = 7", NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	world_open(&w);
	expect_plan(&w, 7, "{\"early\":1}");
	expect_plan(&w, 3, "{\"sort\":3}");
	/* one that is missing: its hash is not lost when the row is written again */
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(sqlite3_exec(db, "UPDATE run SET plan = printf('%064d', 7) WHERE id = 7", NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
	world_open(&w);
	read_page(&w, "run.get", ROW_RUN, BINDS({ ":id", 7, NULL }));
	d = decision_new();
	decision_put(d, ROW_RUN, w.set.rows[0]);
	rowset_release(&w.set);
	commit(&w, d, true);
	world_close(&w);
	db = peek(&w);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM run WHERE plan = printf('%064d', 7)"), 1);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM plan"), 40);
	sqlite3_close(db);
	world_open(&w);
	world_end(&w);
}
END_TEST

/* That a text was stored is not true any more when its transaction was rolled back. */
START_TEST(test_plan_that_was_rolled_back)
{
	char *text = text_of(sizes[0]);
	struct decision *d = decision_new();
	struct world w;

	signal(SIGXFSZ, SIG_IGN);
	world_init(&w);
	world_open(&w);
	limit_files(100 << 10);
	put_planned(d, 1, "{\"sort\":1}");
	put_setting(d, "big", text);
	commit(&w, d, true);
	ck_assert_uint_eq(w.refused, 1);
	limit_files(RLIM_INFINITY);
	d = decision_new();
	put_planned(d, 1, "{\"sort\":1}");
	store_commit(w.store, d, false, told_cb, &w);
	wait_told(&w, 2);
	world_close(&w);
	world_open(&w);
	expect_plan(&w, 1, "{\"sort\":1}");
	world_end(&w);
	free(text);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tcase = tcase_create("store");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_every_kind_comes_back);
	tcase_add_test(tcase, test_no_value);
	tcase_add_loop_test(tcase, test_the_record_is_append_only, 0, COUNT(forbidden));
	tcase_add_loop_test(tcase, test_error_ends_the_process, 0, COUNT(fatal));
	tcase_add_test(tcase, test_events_are_numbered);
	tcase_add_test(tcase, test_old_events_go);
	tcase_add_test(tcase, test_group_commit);
	tcase_add_test(tcase, test_close_records_what_waits);
	tcase_add_loop_test(tcase, test_no_space, 0, COUNT(sizes));
	tcase_add_test(tcase, test_space_comes_back);
	tcase_add_loop_test(tcase, test_refused, 0, COUNT(refused));
	tcase_add_test(tcase, test_only_ours);
	tcase_add_loop_test(tcase, test_not_in_wal_mode, 0, COUNT(otherwise));
	tcase_add_test(tcase, test_kill);
	tcase_add_loop_test(tcase, test_run_list, 0, COUNT(lists));
	tcase_add_loop_test(tcase, test_pages_of_a_run, 0, COUNT(paged));
	tcase_add_loop_test(tcase, test_hold_list, 0, COUNT(hold_lists));
	tcase_add_test(tcase, test_tasks_in_order);
	tcase_add_test(tcase, test_claims_at_start);
	tcase_add_loop_test(tcase, test_salvage_list, 0, COUNT(salvage_lists));
	tcase_add_test(tcase, test_unfinished_hooks);
	tcase_add_test(tcase, test_counters_and_unfinished);
	tcase_add_test(tcase, test_dropped);
	tcase_add_test(tcase, test_run_by_key);
	tcase_add_test(tcase, test_plans_are_stored_once);
	tcase_add_test(tcase, test_plan_that_was_rolled_back);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
