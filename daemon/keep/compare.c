/* SPDX-License-Identifier: MIT */
/* The disk is listed before the rows are read, and rows are on the disk before anything is made for
 * them: so what is found and has no row was made by no decision. What a row needs and the list does
 * not have is looked for once more, because it may have come later. */
#include "keep/compare.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/run.h"
#include "keep/inventory.h"
#include "keep/keeper_work.h"
#include "model/dirs.h"
#include "proto/clock.h"
#include "proto/memory.h"

struct compare {
	struct keeper *keeper;
	char *instance;
	compare_cb *cb;
	void *arg;
	struct inventory inventory;
	int64_t began;		/* time of day */
	struct rowset runs, numbers, attempts;
	struct compare_fault *faults;
	size_t count;
};

/* Takes text and remedy. */
static void fault(struct compare *c, bool lost, char *text, char *remedy)
{
	c->faults = xreallocarray(c->faults, c->count + 1, sizeof(*c->faults));
	c->faults[c->count++] = (struct compare_fault){ lost, text, remedy };
}

static void compare_end(struct compare *c)
{
	c->cb(c->arg, c->faults, c->count, c->inventory.count + c->attempts.count);
	for (size_t i = 0; i < c->count; i++) {
		free(c->faults[i].text);
		free(c->faults[i].remedy);
	}
	free(c->faults);
	inventory_release(&c->inventory);
	rowset_release(&c->runs);
	rowset_release(&c->numbers);
	rowset_release(&c->attempts);
	free(c->instance);
	keeper_release(c->keeper);
	free(c);
}

/* ---- what rows need ---- */

static void look_run(void *arg)
{
	struct compare *c = arg;

	for (size_t i = 0; i < c->attempts.count; i++) {
		const struct attempt_row *row = c->attempts.rows[i];
		char *dir = dirs_attempt(c->keeper->options.state_dir, row->id);

		if (access(dir, F_OK) == -1)
			fault(c, true, xasprintf("%s is gone: the directory of attempt %lld/%lld", dir,
			    (long long)row->run, (long long)row->number),
			    xasprintf("restore it from a backup; without it, rlctl review verify %lld fails",
			    (long long)row->run));
		free(dir);
	}
}

static void look_done(void *arg)
{
	compare_end(arg);
}

/* ---- what nothing knows ---- */

/* The row with this id; both kinds begin with it. */
static const void *find(const struct rowset *set, int64_t id)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const int64_t *)set->rows[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < set->count && *(const int64_t *)set->rows[low] == id ? set->rows[low] : NULL;
}

static bool is_known(const struct compare *c, const struct inventory_item *item)
{
	const struct run_row *run = item->kind == INVENTORY_ATTEMPT ? NULL : find(&c->runs, item->id);

	switch (item->kind) {
	case INVENTORY_ATTEMPT:
		return item->id > 0 && find(&c->numbers, item->id) != NULL;
	case INVENTORY_RUN:
	case INVENTORY_TREE:
	case INVENTORY_ADMIN:
		return run != NULL;
	case INVENTORY_REF:
		/* its repository may have been elsewhere when it was pruned */
		return run != NULL && run->pruned_at == ROW_NONE;
	case INVENTORY_CONFIG:
		/* it is written before the branch is made, and outlives it for a moment */
		return run != NULL && (!run_state_is_end((enum run_state)run->state) || run->ended_at >= c->began);
	case INVENTORY_LOCK:
	case INVENTORY_KINDS:
		break;
	}
	return false;
}

static char *remedy_of(const struct compare *c, const struct inventory_item *item)
{
	const char *state = c->keeper->options.state_dir;

	switch (item->kind) {
	case INVENTORY_ATTEMPT:
	case INVENTORY_RUN:
	case INVENTORY_TREE:
		return xasprintf("look at it, and remove what is not needed: rm -r %s/%s", state, item->name);
	case INVENTORY_REF:
		return xasprintf("git -C %s update-ref --no-deref -d %s", item->workspace, item->name);
	case INVENTORY_ADMIN:
		return xasprintf("git -C %s worktree remove --force --force %s", item->workspace, item->name);
	case INVENTORY_CONFIG:
		return xasprintf("git -C %s config --local --remove-section %s", item->workspace, item->name);
	case INVENTORY_LOCK:
		return xasprintf("rm %s", item->name);
	case INVENTORY_KINDS:
		break;
	}
	return NULL;
}

/* git has it registered, which is the better remedy. */
static bool is_registered(const struct compare *c, const struct inventory_item *item)
{
	char *path = xasprintf("%s/%s", c->keeper->options.state_dir, item->name);
	size_t length = strlen(path);
	bool found = false;

	for (size_t i = 0; item->kind == INVENTORY_TREE && i < c->inventory.count && !found; i++) {
		const struct inventory_item *admin = &c->inventory.items[i];

		found = admin->kind == INVENTORY_ADMIN && strncmp(admin->name, path, length) == 0 &&
		    (admin->name[length] == '/' || admin->name[length] == '\0');
	}
	free(path);
	return found;
}

static void judge(struct compare *c)
{
	static const char *const texts[INVENTORY_KINDS] = {
		[INVENTORY_ATTEMPT] = "no attempt or operation has this directory",
		[INVENTORY_RUN] = "no run has this directory",
		[INVENTORY_TREE] = "no run has this directory",
		[INVENTORY_REF] = "no run has this ref",
		[INVENTORY_ADMIN] = "no run has this work tree",
		[INVENTORY_CONFIG] = "git has settings for this branch, and there is none",
		[INVENTORY_LOCK] = "a git that was killed has left this lock",
	};

	for (size_t i = 0; i < c->inventory.count; i++) {
		const struct inventory_item *item = &c->inventory.items[i];
		bool here = item->workspace != NULL && item->name[0] != '/';

		if (!is_known(c, item) && !is_registered(c, item))
			fault(c, false, xasprintf("%s%s%s: %s", item->name, here ? " in " : "",
			    here ? item->workspace : "", texts[item->kind]), remedy_of(c, item));
	}
	keeper_offload(c->keeper, look_run, look_done, c);
}

/* ---- reading ---- */

static void attempts_cb(void *arg, struct rowset *set)
{
	struct compare *c = arg;

	c->attempts = *set;
	judge(c);
}

static void numbers_cb(void *arg, struct rowset *set)
{
	struct compare *c = arg;

	c->numbers = *set;
	keeper_read(c->keeper, "compare.attempts", ROW_ATTEMPT, ROW_NONE, attempts_cb, c);
}

static void runs_cb(void *arg, struct rowset *set)
{
	struct compare *c = arg;

	c->runs = *set;
	keeper_read(c->keeper, "compare.numbers", ROW_STEP, ROW_NONE, numbers_cb, c);
}

static void inventory_run(void *arg)
{
	inventory_take(&((struct compare *)arg)->inventory);
}

static void inventory_done(void *arg)
{
	struct compare *c = arg;

	keeper_read(c->keeper, "compare.runs", ROW_RUN, ROW_NONE, runs_cb, c);
}

static void repositories_cb(void *arg, struct rowset *set)
{
	struct compare *c = arg;

	c->inventory = (struct inventory){
		.state_dir = c->keeper->options.state_dir, .instance = c->instance,
		.workspaces = xcalloc(1, sizeof(char *)),
	};
	for (size_t i = 0; i < set->count; i++)
		strings_append(&c->inventory.workspaces, ((const struct run_row *)set->rows[i])->workspace);
	rowset_release(set);
	keeper_offload(c->keeper, inventory_run, inventory_done, c);
}

void keeper_compare(struct keeper *keeper, const char *instance, compare_cb *cb, void *arg)
{
	struct compare *c = xcalloc(1, sizeof(*c));

	*c = (struct compare){ .keeper = keeper, .instance = xstrdup(instance), .cb = cb, .arg = arg,
	    .began = clock_wall() };
	keeper_hold(keeper);
	keeper_read(keeper, "compare.repositories", ROW_RUN, ROW_NONE, repositories_cb, c);
}
