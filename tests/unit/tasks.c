/* SPDX-License-Identifier: MIT */
/* Which task of a run is next, and why the others are not. */
#include <stddef.h>
#include <string.h>

/* Ids that are compared are counted: it is what a question about many tasks costs. */
static size_t compared;

static inline int compare(const char *a, const char *b)
{
	compared++;
	return strcmp(a, b);
}
#define strcmp compare
#include "daemon/core/tasks.c"
#undef strcmp

#include "core.h"
#include "tasks.h"

/* reasons: one for each task in order, "/" between them, "-" for none. */
static const struct scene {
	const char *tasks, *next, *reasons;
} scenes[] = {
	{ "", NULL, "" },
	{ "a:open", "a", "-" },
	{ "a:open b:open", "a", "-/-" },
	{ "a:passed b:open", "b", "-/-" },
	{ "a:claimed b:failed c:cancelled d:done e:taken f:released g:passed", NULL, "-/-/-/-/-/-/-" },
	/* dependencies before the order in which the source offers them */
	{ "a:open<b b:open", "b", "waits for b/-" },
	{ "a:open<b b:passed", "a", "-/-" },
	{ "a:open<b b:done", "a", "-/-" },
	{ "a:open<b b:claimed", NULL, "waits for b/-" },
	{ "a:open<b,c b:passed c:claimed", NULL, "waits for c/-/-" },
	{ "a:open<b,c b:claimed c:claimed", NULL, "waits for b/-/-" },
	{ "a:open<b b:open<c c:open", "c", "waits for b/waits for c/-" },
	{ "a:open<elsewhere", "a", "-" },
	{ "a:open<elsewhere,b b:open", "b", "waits for b/-" },
	/* what never passes, and all behind it */
	{ "a:open<b b:failed c:open", "c", "depends on b, which failed/-/-" },
	{ "a:open<b b:cancelled", NULL, "depends on b, which was cancelled/-" },
	{ "a:open<b b:taken", NULL, "depends on b, which is left to another run/-" },
	{ "a:open<b b:released", NULL, "depends on b, which was given back/-" },
	{ "a:open<b,c b:claimed c:failed", NULL, "depends on c, which failed/-/-" },
	{ "a:open<b,c b:failed c:cancelled", NULL, "depends on b, which failed/-/-" },
	{ "a:failed b:open<a c:open<b d:open<c e:open", "e", "-/depends on a, "
	    "which failed/depends on b, which never starts/depends on c, which never starts/-" },
	{ "a:open<b,c b:open c:open<d d:failed", "b",
	    "depends on c, which never starts/-/depends on d, which failed/-" },
	{ "a:failed b:open<a c:open<a d:open<b,c", NULL,
	    "-/depends on a, which failed/depends on a, which failed/depends on b, which never starts" },
	/* what has begun goes on, whatever becomes of what it depends on */
	{ "a:failed b:claimed<a c:open<b", NULL, "-/-/waits for b" },
	/* each waits for another: nobody starts, and nobody looks for ever */
	{ "a:open<a", NULL, "waits for a" },
	{ "a:open<b b:open<a c:open", "c", "waits for b/waits for a/-" },
	{ "a:open<b b:open<a,c c:failed", NULL, "depends on b, which never starts/depends on c, which failed/-" },
};

/* NULL: none may start. */
static const struct task_row *first_ready(struct task_row *const *tasks, size_t count)
{
	size_t nready;
	const struct task_row **ready = task_ready((const struct task_row *const *)tasks, count, SIZE_MAX, &nready);
	const struct task_row *first = nready > 0 ? ready[0] : NULL;

	for (size_t i = 1; i < nready; i++)
		ck_assert_int_lt(ready[i - 1]->position, ready[i]->position);
	free(ready);
	return first;
}

START_TEST(every_scene)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		struct task_row **tasks;
		const struct task_row *next;
		size_t count = tasks_make(scenes[i].tasks, &tasks);
		char **reasons = task_reasons((const struct task_row *const *)tasks, count);
		enum task_wait *waits = task_waits((const struct task_row *const *)tasks, count);
		struct buf b = { 0 };

		next = first_ready(tasks, count);
		ck_assert_msg((next == NULL) == (scenes[i].next == NULL) &&
		    (next == NULL || strcmp(next->id, scenes[i].next) == 0), "%s: %s",
		    scenes[i].tasks, next != NULL ? next->id : "none");
		buf_adds(&b, "");
		for (size_t t = 0; t < count; t++) {
			enum task_wait want = tasks[t]->state != TASK_S_OPEN ? TASK_W_NOT_OPEN :
			    reasons[t] == NULL ? TASK_W_NOTHING : strncmp(reasons[t], "depends",
			    strlen("depends")) == 0 ? TASK_W_NEVER : TASK_W_DEPENDENCY;

			buf_addf(&b, "%s%s", t > 0 ? "/" : "", reasons[t] != NULL ? reasons[t] : "-");
			ck_assert_msg(waits[t] == want, "%s: %s", scenes[i].tasks, tasks[t]->id);
			ck_assert_int_eq(task_wait(tasks[t], (const struct task_row *const *)tasks, count), want);
			free(reasons[t]);
		}
		ck_assert_str_eq(b.data, scenes[i].reasons);
		buf_release(&b);
		free(reasons);
		free(waits);
		tasks_free(tasks, count);
	}
}
END_TEST

/* By position, not by their place in memory. */
START_TEST(the_order_of_the_source)
{
	struct task_row **tasks;
	size_t count = tasks_make("a:open b:open c:open<b", &tasks);

	tasks[0]->position = 7;
	ck_assert_str_eq(first_ready(tasks, count)->id, "b");
	tasks[1]->state = TASK_S_PASSED;
	ck_assert_str_eq(first_ready(tasks, count)->id, "c");
	tasks[2]->state = TASK_S_PASSED;
	ck_assert_str_eq(first_ready(tasks, count)->id, "a");
	tasks_free(tasks, count);
}
END_TEST

START_TEST(dependencies_as_they_are_written)
{
	char *ids[] = { (char[]){ "a" }, (char[]){ "\"b\\" }, NULL }, *none[] = { NULL }, *text = task_depends(ids);
	struct task_row a, b, *tasks[] = { &a, &b };

	ck_assert_str_eq(text, "[\"a\",\"\\\"b\\\\\"]");
	ck_assert_ptr_null(task_depends(NULL));
	ck_assert_ptr_null(task_depends(none));
	row_init(ROW_TASK, &a);
	row_init(ROW_TASK, &b);
	a.id = xstrdup("x");
	a.state = TASK_S_OPEN;
	a.depends_on = text;
	b.id = xstrdup("\"b\\");
	b.state = TASK_S_CLAIMED;
	ck_assert_int_eq(task_wait(&a, (const struct task_row *const *)tasks, 2), TASK_W_DEPENDENCY);
	b.state = TASK_S_PASSED;
	ck_assert_int_eq(task_wait(&a, (const struct task_row *const *)tasks, 2), TASK_W_NOTHING);
	row_release(ROW_TASK, &a);
	row_release(ROW_TASK, &b);
}
END_TEST

#define CHAIN 10000

/* Each depends on the one before and on the first, and the first fails: a question
 * about all of them is one walk with a search for each dependency, and the stack does
 * not grow with the chain. */
START_TEST(a_long_chain)
{
	struct task_row **tasks = xcalloc(CHAIN, sizeof(*tasks));
	enum task_wait *waits;
	char **reasons;
	size_t ready;

	for (size_t i = 0; i < CHAIN; i++) {
		tasks[i] = row_new(ROW_TASK);
		tasks[i]->id = xasprintf("t%zu", i);
		tasks[i]->position = (int64_t)i;
		tasks[i]->state = TASK_S_OPEN;
		tasks[i]->depends_on = i > 0 ? xasprintf("[\"t%zu\",\"t0\"]", i - 1) : NULL;
	}
	compared = 0;
	waits = task_waits((const struct task_row *const *)tasks, CHAIN);
	ck_assert_uint_lt(compared, CHAIN * 15 * 3);
	ck_assert_int_eq(waits[0], TASK_W_NOTHING);
	ck_assert_int_eq(waits[CHAIN - 1], TASK_W_DEPENDENCY);
	free(waits);
	/* what is next is found without a look at what is behind it */
	compared = 0;
	free(task_ready((const struct task_row *const *)tasks, CHAIN, 1, &ready));
	ck_assert_uint_eq(ready, 1);
	ck_assert_uint_lt(compared, CHAIN * 15 * 2);
	tasks[0]->state = TASK_S_FAILED;
	ck_assert_ptr_null(first_ready(tasks, CHAIN));
	reasons = task_reasons((const struct task_row *const *)tasks, CHAIN);
	for (size_t i = 0; i < CHAIN; i++) {
		if (i > 0)
			ck_assert_str_eq(reasons[i], "depends on t0, which failed");
		free(reasons[i]);
	}
	free(reasons);
	for (size_t i = 2; i < CHAIN; i++)
		/* a task of nobody */
		memcpy(strchr(tasks[i]->depends_on, ',') + 1, "\"tx\"", 4);
	waits = task_waits((const struct task_row *const *)tasks, CHAIN);
	ck_assert_int_eq(waits[CHAIN - 1], TASK_W_NEVER);
	free(waits);
	tasks_free(tasks, CHAIN);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { every_scene, the_order_of_the_source,
	    dependencies_as_they_are_written, a_long_chain };

	return RUN_SUITE("tasks", tests);
}
