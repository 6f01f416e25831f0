/* SPDX-License-Identifier: MIT */
/* Who gets the next slot of the daemon: scenes for each rule, random histories beside a reference
 * that looks at every run, and how far a call walks, which must not depend on how many wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/tree.h>

/* Each step of a walk over a tree or a list is counted. The schedule has no other way to get from
 * one thing to another. */
static uint64_t steps;

static inline void *step(void *at)
{
	steps++;
	return at;
}
#define STEP(member) (*(__typeof__(&(member)))step(&(member)))
#undef RB_LEFT
#undef RB_RIGHT
#undef RB_PARENT
#undef LIST_NEXT
#undef TAILQ_NEXT
#define RB_LEFT(elm, field) STEP((elm)->field.rbe_left)
#define RB_RIGHT(elm, field) STEP((elm)->field.rbe_right)
#define RB_PARENT(elm, field) STEP((elm)->field.rbe_parent)
#define LIST_NEXT(elm, field) STEP((elm)->field.le_next)
#define TAILQ_NEXT(elm, field) STEP((elm)->field.tqe_next)
#include "daemon/core/waiters.c"
#include "daemon/core/owner_queue.c"
#include "daemon/core/schedule.c"

#include "core.h"

/* ---- scenes ---- */

/* One command a line:
 *   slots N   group NAME N|- [paused] add ID [o=OWNER] [p=PRIORITY] [a=AFTER] [g=GROUP]
 *             [w=WORKSPACE] [n=SEATS WANTED, 1]
 *   want ID N   tell ID take ID give ID occupy ID remove ID
 * and what is expected:
 *   note ID N    what it does is another thing
 *   grant ID...  who is granted a permit, one after the other, until nobody can why ID TEXT|- told
 *                ID... in any order
 *   permits ID N   used N used_by GROUP N next ID */
static const struct {
	const char *name, *text;
} scenes[] = {
	{ "nobody", "next 0\n used 0\n why 7 -\n permits 7 0\n take 7\n give 7\n want 7 2\n"
	    " occupy 7\n remove 7\n told\n used_by g 0" },
	{ "oldest first, in whatever order they came", "slots 2\n add 3\n add 1\n add 2\n"
	    " grant 1 2\n why 3 all slots of the daemon are in use\n remove 1\n grant 3" },
	{ "priority before age", "slots 2\n add 1\n add 2 p=5\n add 3 p=-5\n add 4 p=5\n"
	    " grant 2 4\n remove 2\n remove 4\n grant 1 3" },
	{ "one that wants nothing", "slots 9\n add 1 n=0\n next 0\n why 1 -\n want 1 1\n grant 1\n why 1 -" },
	{ "one that no longer wants", "slots 1\n add 1\n add 2\n want 1 0\n grant 2" },
	/* fairness */
	{ "the owner with the fewest permits",
	    "slots 4\n add 1 o=1\n add 2 o=1\n add 3 o=1\n add 4 o=2\n add 5 o=2\n grant 1 4 2 5\n"
	    "remove 4\n add 6 o=2\n grant 6\n remove 1\n remove 2\n grant 3" },
	{ "priority before fairness", "slots 3\n add 1 o=1 p=1\n add 2 o=1 p=1\n add 3 o=2\n grant 1 2 3" },
	{ "permits count for the owner, not for the group", "slots 3\n add 1 o=1 g=a n=2\n"
	    " add 2 o=1 g=b\n add 3 o=2 g=b\n grant 1 3 1\n give 1\n give 1\n grant 2" },
	{ "permits of runs that want no more count as well",
	    "slots 3\n add 1 o=1\n add 2 o=2\n take 1\n add 3 o=1\n grant 2 3" },
	{ "a permit that is given back counts no more",
	    "slots 2\n add 1 o=1\n add 2 o=2\n grant 1 2\n add 3 o=1\n add 4 o=2\n give 2\n grant 4" },
	/* more than one permit */
	{ "a running one and a queued one",
	    "slots 3\n add 1 n=3\n add 2\n grant 1 1 1\n permits 1 3\n give 1\n permits 1 2\n"
	    " used 2\n grant 2\n used 3\n want 1 1\n why 1 all slots of the daemon are in use" },
	{ "nothing is given that nobody has", "slots 1\n add 1\n give 1\n permits 1 0\n used 0\n"
	    " grant 1\n give 1\n give 1\n used 0\n want 1 1\n grant 1" },
	{ "its end frees all its permits", "slots 3\n add 1 n=3 g=a\n grant 1 1 1\n used_by a 3\n"
	    " add 2 n=3\n remove 1\n used 0\n used_by a 0\n permits 1 0\n grant 2 2 2" },
	/* workspaces */
	{ "told again", "slots 9\n add 1 w=/a\n add 2 w=/a\n add 3 w=/a/b\n add 4 w=/z a=1\n grant 1\n"
	    " told 1 2 3 4\n told\n note 1 7\n told 2 3 4\n note 1 7\n told\n"
	    " note 2 1\n note 9 1\n told\n note 1 0\n told 2 3 4" },
	{ "workdir busy", "slots 9\n add 1 w=/a\n add 2 w=/a\n add 3 w=/b\n grant 1 3\n"
	    " why 2 workdir busy: run 1\n remove 1\n grant 2" },
	{ "a workspace in another", "slots 9\n add 1 w=/a\n add 2 w=/a/b/c\n add 3 w=/a/b\n add 4 w=/a-b\n"
	    " grant 1 4\n why 2 workdir busy: run 1 in /a\n why 3 workdir busy: run 1 in /a\n remove 1\n"
	    " grant 2\n why 3 workdir busy: run 2 in /a/b/c\n add 5 w=/a\n why 5 workdir busy: run 2 in /a/b/c\n"
	    " remove 2\n grant 3\n why 5 workdir busy: run 3 in /a/b\n remove 3\n grant 5" },
	{ "a workspace that comes later", "slots 9\n add 1 w=/a/b\n grant 1\n add 2 w=/\n add 3 w=/a/c\n"
	    " grant 3\n why 2 workdir busy: run 1 in /a/b\n remove 1\n why 2 workdir busy: run 3 in /a/c\n"
	    " remove 3\n grant 2\n add 4 w=/z\n why 4 workdir busy: run 2 in /\n remove 2\n grant 4" },
	{ "workspaces side by side", "slots 9\n add 1 w=/a/b\n add 2 w=/a/bc\n add 3 w=/a/b.c\n grant 1 2 3" },
	{ "found inside one another at a start", "slots 9\n add 1 w=/a\n add 2 w=/a/b\n add 3 w=/a/b\n occupy 1\n"
	    " occupy 2\n why 3 workdir busy: run 2\n grant 1 2\n remove 2\n why 3 workdir busy: run 1 in /a\n"
	    " remove 1\n grant 3" },
	{ "it is kept without a permit", "slots 9\n add 1 w=/a\n add 2 w=/a\n grant 1\n give 1\n"
	    " next 0\n why 2 workdir busy: run 1\n want 1 1\n grant 1\n remove 1\n grant 2" },
	{ "who is inside goes on", "slots 9\n add 1 w=/a n=2\n add 2 w=/a p=9 n=0\n grant 1 1\n"
	    " want 2 1\n next 0\n want 1 1\n grant 1\n permits 1 3" },
	{ "who was in it when the daemon died", "slots 9\n add 2 w=/a\n add 1 w=/a n=0\n occupy 1\n"
	    " next 0\n why 2 workdir busy: run 1\n occupy 1\n remove 1\n next 2" },
	{ "two in it after a start: one after the other leaves",
	    "slots 9\n add 1 w=/a n=0\n add 2 w=/a n=0\n add 3 w=/a\n take 1\n told 1 2 3\n"
	    " take 2\n told 2\n why 3 workdir busy: run 1\nwant 2 1\n grant 2\n told 2\n remove 1\n"
	    " why 3 workdir busy: run 2\n told 3\n remove 2\n grant 3" },
	{ "the second of two leaves", "slots 9\n add 1 w=/a n=0\n add 2 w=/a n=0\n add 3 w=/a\n"
	    " take 1\n take 2\n told 1 2 3\n remove 2\n told\n remove 1\n told 3\n grant 3" },
	{ "the best of those who wait gets in, whoever they are", "slots 2\n add 1 w=/a\n grant 1\n"
	    " add 2 w=/a o=1 g=a\n add 3 w=/a o=2 g=b\n add 4 w=/a o=2 g=b p=1\n remove 1\n grant 4\n"
	    "remove 4\n add 5 o=1 p=9\n grant 5 3" },
	{ "whose group has no permit does not hold up the others", "slots 9\n group a 0\n"
	    " add 1 w=/a g=a p=9\n add 2 w=/a g=b\n grant 2\n remove 2\n next 0\n group a 1\n grant 1" },
	{ "the first at the door goes away", "slots 9\n add 1 w=/a\n grant 1\n add 2 w=/a\n"
	    " add 3 w=/a\n remove 1\n next 2\n want 2 0\n grant 3" },
	{ "sharing", "slots 9\n add 1\n add 2\n occupy 1\n grant 1 2" },
	/* after */
	{ "waits for the run before", "slots 9\n add 1\n add 2 a=1\n add 3 a=1\n add 4 a=2\n"
	    " grant 1\n why 2 waits for run 1\n why 4 waits for run 2\n"
	    "remove 1\n grant 2 3\n remove 2\n grant 4" },
	{ "a run that is not here has ended", "slots 9\n add 2 a=1\n grant 2" },
	{ "it comes behind it after a start", "slots 9\n add 2 a=1\n add 1\n why 2 waits for run 1\n grant 1" },
	{ "after, then the workspace", "slots 9\n add 1 w=/a\n add 2 w=/a a=1\n add 3 w=/a\n"
	    " grant 1\n why 2 waits for run 1\n why 3 workdir busy: run 1\n remove 1\n grant 2" },
	/* groups */
	{ "a group without limits", "slots 9\n add 1 g=night\n add 2 g=night\n grant 1 2\n used_by night 2" },
	{ "a group's limit",
	    "slots 9\n group night 4\n add 1 g=night n=4\n add 2 g=night\n add 3\n grant 1 1 1 1 3\n"
	    " used_by night 4\n why 2 group night: all 4 slots are in use\n give 1\n grant 2" },
	{ "a limit of one", "slots 9\n group night 1\n add 1 g=night\n add 2 g=night\n grant 1\n"
	    " why 2 group night: its only slot is in use" },
	{ "a limit that is taken away",
	    "slots 9\n group night 1\n add 1 g=night n=3\n grant 1\n group night -\n grant 1 1" },
	{ "a limit for all owners together", "slots 9\n group night 2\n add 1 g=night o=1\n"
	    " add 2 g=night o=2\n add 3 g=night o=3\n grant 1 2\n remove 1\n grant 3" },
	{ "a paused group", "slots 9\n group night - paused\n add 1 g=night\n add 2\n grant 2\n"
	    " why 1 group night is paused\n group night -\n why 1 -\n grant 1" },
	{ "a pause takes no permit away", "slots 9\n add 1 g=night n=2\n take 1\n"
	    " group night - paused\n permits 1 1\n next 0\n why 1 group night is paused\n give 1\n"
	    " used_by night 0\n next 0\n group night - \n grant 1" },
	{ "pause before lack of slots, workspace before pause",
	    "slots 0\n group g 0 paused\n add 1 g=g w=/a\n why 1 group g is paused\n"
	    " add 2 g=g w=/a n=0\n occupy 2\n why 1 workdir busy: run 2" },
	{ "a group is known as long as somebody is in it",
	    "slots 9\n add 1 g=a\n grant 1\n remove 1\n used_by a 0\n add 2 g=a\n grant 2" },
	{ "a limit stays when nobody is in it",
	    "slots 9\n group a 1\n add 1 g=a n=2\n grant 1\n remove 1\n add 2 g=a n=2\n grant 2" },
	/* limits are never taken from those who grant */
	{ "fewer slots",
	    "slots 3\n add 1 n=3\n grant 1 1 1\n slots 1\n permits 1 3\n used 3\n add 2\n next 0\n"
	    " give 1\n next 0\n give 1\n next 0\n give 1\n grant 2\n slots 2\n want 1 1\n grant 1" },
	{ "fewer slots for a group",
	    "slots 9\n group g 3\n add 1 g=g n=4\n grant 1 1 1\n group g 1\n permits 1 3\n"
	    " why 1 group g: its only slot is in use\n give 1\n give 1\n next 0\n give 1\n grant 1" },
	{ "found running beyond every limit",
	    "slots 1\n group g 1\n add 1 g=g n=0 w=/a\n add 2 g=g n=0 w=/a\n add 3 n=0\n take 1\n"
	    " take 2\n take 3\n used 3\n used_by g 2\n add 4\n next 0\n"
	    "remove 1\n remove 3\n next 0\n remove 2\n grant 4" },
	{ "a group that is paused while it runs beyond its limit",
	    "slots 9\n group g 1 paused\n add 1 g=g n=3\n take 1\n take 1\n permits 1 2\n give 1\n"
	    " group g 1\n next 0\n give 1\n grant 1" },
	/* who is to be told */
	{ "all are told once", "slots 1\n add 1\n add 2\n add 3\n grant 1\n told 1 2 3\n told\n"
	    " tell 2\n tell 9\n told 2\n tell 1\n told 1\n told" },
	{ "another slot that is lacking is no news", "slots 2\n group a 1\n add 1 g=a\n add 2 g=a\n"
	    " add 3\n add 4\n grant 1 3\n told 1 2 3 4\n remove 3\n grant 4\n told 4\n"
	    "remove 1\n add 5 p=9\n grant 5\n why 2 all slots of the daemon are in use\n told 5\n"
	    " slots 1\n told\n slots 2" },
	{ "a limit is told",
	    "slots 9\n group a 1\n add 1 g=a\n add 2 g=a\n add 3 g=b\n grant 1 3\n told 1 2 3\n"
	    " group a 1\n told\n group a 1 paused\n told 2\n group a 1\n told 2\n group b 5\n told" },
	{ "the workspace goes to another: who is next is told",
	    "slots 9\n add 1 w=/a\n add 2 w=/a\n add 3 w=/a\n add 4 w=/a\n add 5 w=/b\n grant 1 5\n"
	    " told 1 2 3 4 5\n give 1\n told\n remove 1\n grant 2\n told 2 3\n"
	    " why 3 workdir busy: run 2\n why 4 workdir busy: run 2\n want 3 0\n told 3 4" },
	{ "those before it are over", "slots 9\n add 1\n add 2 a=1\n add 3 a=1 n=0\n grant 1\n"
	    " told 1 2 3\n remove 1\n told 2\n remove 2\n told" },
	{ "an ended one is not told", "slots 1\n add 1\n add 2\n remove 1\n remove 2\n told" },
	{ "who wants no more is told", "slots 0\n add 1\n told 1\n want 1 2\n told 1\n want 1 2\n"
	    " want 1 1\n told\n want 1 0\n told 1\n why 1 -" },
	{ "what a running one lacks is a further permit",
	    "slots 0\n add 1 n=2\n told 1\n slots 1\n grant 1\n told 1\n"
	    " why 1 all slots of the daemon are in use\n slots 2\n grant 1\n told 1\n why 1 -" },
};

static const char *scene_name;
static int scene_line;
#define EXPECT(ok, ...) \
	do { \
		if (!(ok)) { \
			char text[512]; \
			snprintf(text, sizeof(text), __VA_ARGS__); \
			ck_abort_msg("%s, line %d: %s", scene_name, scene_line, text); \
		} \
	} while (0)

static int by_number(const void *a, const void *b)
{
	return order(*(const int64_t *)a, *(const int64_t *)b);
}

static size_t numbers(char *text, int64_t *list, size_t room)
{
	size_t count = 0;

	for (char *word = strtok_r(text, " ", &text); word != NULL && count < room; word = strtok_r(NULL, " ", &text))
		list[count++] = strtoll(word, NULL, 10);
	return count;
}

static void scene_add(struct schedule *s, char *words)
{
	struct schedule_run run = { .id = strtoll(words, &words, 10), .owner = 1, .after = ROW_NONE,
	    .group = "default" };
	int64_t wanted = 1;

	for (char *word = strtok_r(words, " ", &words); word != NULL; word = strtok_r(NULL, " ", &words)) {
		const char *value = word + 2;

		switch (word[0]) {
		case 'o': run.owner = strtoll(value, NULL, 10); break;
		case 'p': run.priority = strtoll(value, NULL, 10); break;
		case 'a': run.after = strtoll(value, NULL, 10); break;
		case 'g': run.group = value; break;
		case 'w': run.workspace = value; break;
		case 'n': wanted = strtoll(value, NULL, 10); break;
		default: EXPECT(false, "no such word: %s", word);
		}
	}
	schedule_add(s, &run);
	schedule_want(s, run.id, wanted);
}

static void scene_sit(struct schedule *s, char *words)
{
	int64_t want[16], next;
	size_t count = numbers(words, want, 16), i = 0;

	for (; (next = schedule_next(s)) != 0; i++) {
		EXPECT(i < count && next == want[i], "run %lld is granted", (long long)next);
		schedule_take(s, next);
	}
	EXPECT(i == count, "run %lld does not grant", (long long)want[i]);
}

static void scene_told(struct schedule *s, char *words)
{
	int64_t want[16], told[16], next;
	size_t count = numbers(words, want, 16), n = 0;

	while (n < 16 && (next = schedule_changed(s)) != 0)
		told[n++] = next;
	qsort(told, n, sizeof(told[0]), by_number);
	for (size_t i = 0; i < n; i++)
		EXPECT(i < count && told[i] == want[i], "run %lld is told", (long long)told[i]);
	EXPECT(n == count, "%zu told", n);
}

/* The kind that goes with the words. */
static enum wait_kind kind_of(const char *reason)
{
	static const struct { const char *words; enum wait_kind kind; } kinds[] = {
		{ "waits for run ", WAIT_AFTER }, { "workdir busy: ", WAIT_WORKSPACE },
		{ " is paused", WAIT_GROUP_PAUSED },
		{ "all slots of the daemon are in use", WAIT_PERMIT }, { "group ", WAIT_GROUP }, { "", WAIT_OTHER },
	};
	size_t i = 0;

	while (reason != NULL && strstr(reason, kinds[i].words) == NULL)
		i++;
	return reason != NULL ? kinds[i].kind : WAIT_NOTHING;
}

static void scene_step(struct schedule *s, char *words)
{
	char *command = strtok_r(words, " ", &words), *first = words, *second = words;
	int64_t id, number;

#define IS(name) (strcmp(command, name) == 0)
	if (IS("add")) {
		scene_add(s, words);
	} else if (IS("grant")) {
		scene_sit(s, words);
	} else if (IS("told")) {
		scene_told(s, words);
	} else if (IS("group") || IS("used_by")) {
		first = strtok_r(words, " ", &words);
		second = strtok_r(words, " ", &words);
		number = strcmp(second, "-") == 0 ? ROW_NONE : strtoll(second, NULL, 10);
		if (IS("group"))
			schedule_set_group(s, first, number, strcmp(words, "paused") == 0);
		else
			EXPECT(schedule_group_used(s, first) == number, "%lld",
			    (long long)schedule_group_used(s, first));
	} else if (IS("why")) {
		enum wait_kind kind;
		int64_t blocker;
		char *reason = schedule_reason(s, strtoll(words, &words, 10), &kind, &blocker);
		const char *named = kind == WAIT_AFTER || kind == WAIT_WORKSPACE ? strstr(reason, "run ") + 4 : "0";

		EXPECT(blocker == strtoll(named, NULL, 10), "blocker %lld", (long long)blocker);
		EXPECT(strcmp(words + 1, reason != NULL ? reason : "-") == 0, "%s",
		    reason != NULL ? reason : "no reason");
		EXPECT(kind == kind_of(reason), "kind %d", (int)kind);
		free(reason);
	} else {
		id = strtoll(first, &second, 10);
		number = strtoll(second, NULL, 10);
		if (IS("slots"))
			schedule_set_slots(s, id);
		else if (IS("want"))
			schedule_want(s, id, number);
		else if (IS("tell"))
			schedule_tell(s, id);
		else if (IS("take"))
			schedule_take(s, id);
		else if (IS("give"))
			schedule_give(s, id);
		else if (IS("occupy"))
			schedule_occupy(s, id);
		else if (IS("note"))
			schedule_note(s, id, number);
		else if (IS("remove"))
			schedule_remove(s, id);
		else if (IS("next"))
			EXPECT(schedule_next(s) == id, "%lld", (long long)schedule_next(s));
		else if (IS("used"))
			EXPECT(schedule_used(s) == id, "%lld", (long long)schedule_used(s));
		else if (IS("permits"))
			EXPECT(schedule_permits(s, id) == number, "%lld", (long long)schedule_permits(s, id));
		else
			EXPECT(false, "no such command: %s", command);
	}
}

START_TEST(every_scene)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		struct schedule *s = schedule_new(1);
		char *text = xstrdup(scenes[i].text), *rest = text;

		scene_name = scenes[i].name;
		scene_line = 0;
		for (char *line = strtok_r(rest, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
			scene_line++;
			scene_step(s, line);
		}
		free(text);
		schedule_free(s);
	}
}
END_TEST

/* ---- the reference: it knows nothing but the runs, and looks at all of them ---- */

#define RUNS 32
#define STEPS_MAX 5000000	/* of all walks of the random history, which takes half of them */
#define GROUPS 4
#define OWNERS 3
#define SPACES 5	/* and one that all share */

static struct model {
	int64_t slots;
	struct { int64_t slots; bool paused; } groups[GROUPS];
	struct model_run {
		int64_t id;		/* 0: none */
		int64_t owner, priority, after, want, permits, entered;
		int group, space;	/* space SPACES: shared */
		char told[64];
	} runs[RUNS];
} model;
static int64_t model_time;

static const char *const group_names[GROUPS] = { "a", "b", "night", "x y" };
static const char *const space_names[SPACES + 1] = { "/a", "/a/b", "/a/b/c", "/a-b", "/a/d", NULL };

static struct model_run *model_find(int64_t id)
{
	for (size_t i = 0; i < RUNS; i++)
		if (id != 0 && model.runs[i].id == id)
			return &model.runs[i];
	return NULL;
}

/* Seats of all, of each owner and of each group. */
static struct { int64_t all, owner[OWNERS], group[GROUPS]; } sums;

static void model_sum(void)
{
	memset(&sums, 0, sizeof(sums));
	for (size_t i = 0; i < RUNS; i++) {
		if (model.runs[i].id == 0)
			continue;
		sums.all += model.runs[i].permits;
		sums.owner[model.runs[i].owner] += model.runs[i].permits;
		sums.group[model.runs[i].group] += model.runs[i].permits;
	}
}

/* Which workspace that is in the way of another is named: its own, those around it from the nearest
 * on, those in it. 0: it is in nobody's way. */
static int space_rank(int space, int other)
{
	static const int ranks[SPACES + 1][SPACES + 1] = {
		{ 1, 2, 3, 0, 4 }, { 2, 1, 3, 0, 0 }, { 3, 2, 1, 0, 0 }, { 0, 0, 0, 1, 0 }, { 2, 0, 0, 0, 1 },
	};

	return ranks[space][other];
}

enum model_why { WANTS_NONE, MAY_HAVE_IT, AFTER_ANOTHER, SPACE_BUSY, GROUP_PAUSED, ALL_IN_USE, GROUP_IN_USE };

/* Why it does not get a permit. SPACE_BUSY: *inside has it. */
static enum model_why model_why(const struct model_run *run, const struct model_run **inside)
{
	int64_t limit = model.groups[run->group].slots;

	*inside = NULL;
	if (run->want == 0)
		return WANTS_NONE;
	if (model_find(run->after) != NULL)
		return AFTER_ANOTHER;
	for (size_t i = 0; i < RUNS && run->entered == 0 && run->space < SPACES; i++) {
		const struct model_run *other = &model.runs[i];

		if (other->id != 0 && other->entered != 0 && space_rank(run->space, other->space) > 0 &&
		    (*inside == NULL ||
		    space_rank(run->space, other->space) < space_rank(run->space, (*inside)->space) ||
		    (other->space == (*inside)->space && other->entered < (*inside)->entered)))
			*inside = other;
	}
	if (*inside != NULL)
		return SPACE_BUSY;
	if (model.groups[run->group].paused)
		return GROUP_PAUSED;
	if (sums.all >= model.slots)
		return ALL_IN_USE;
	return limit != ROW_NONE && sums.group[run->group] >= limit ? GROUP_IN_USE : MAY_HAVE_IT;
}

/* The same as a sentence: "" when it wants none, "-" when it can have it. */
static void model_reason(const struct model_run *run, char *text, size_t room)
{
	const struct model_run *inside;
	int64_t limit = model.groups[run->group].slots;

	text[0] = '\0';
	switch (model_why(run, &inside)) {
	case WANTS_NONE:
		return;
	case MAY_HAVE_IT:
		snprintf(text, room, "-");
		return;
	case AFTER_ANOTHER:
		snprintf(text, room, "waits for run %d", (int)run->after);
		return;
	case SPACE_BUSY:
		snprintf(text, room, "workdir busy: run %d%s%s", (int)inside->id,
		    inside->space != run->space ? " in " : "",
		    inside->space != run->space ? space_names[inside->space] : "");
		return;
	case GROUP_PAUSED:
		snprintf(text, room, "group %s is paused", group_names[run->group]);
		return;
	case ALL_IN_USE:
		snprintf(text, room, "all slots of the daemon are in use");
		return;
	case GROUP_IN_USE:
		if (limit == 1)
			snprintf(text, room, "group %s: its only slot is in use", group_names[run->group]);
		else
			snprintf(text, room, "group %s: all %d slots are in use", group_names[run->group], (int)limit);
		return;
	}
}

static bool model_before(const struct model_run *a, const struct model_run *b)
{
	int64_t permits_a = sums.owner[a->owner], permits_b = sums.owner[b->owner];

	if (a->priority != b->priority)
		return a->priority > b->priority;
	return permits_a != permits_b ? permits_a < permits_b : a->id < b->id;
}

static int64_t model_next(void)
{
	const struct model_run *best = NULL, *inside;

	for (size_t i = 0; i < RUNS; i++) {
		if (model.runs[i].id != 0 && model_why(&model.runs[i], &inside) == MAY_HAVE_IT &&
		    (best == NULL || model_before(&model.runs[i], best)))
			best = &model.runs[i];
	}
	return best != NULL ? best->id : 0;
}

static void both_enter(struct model_run *run)
{
	if (run->entered == 0)
		run->entered = ++model_time;
}

static void both_take(struct schedule *s, struct model_run *run)
{
	both_enter(run);
	run->permits++;
	run->want -= run->want > 0;
	schedule_take(s, run->id);
}

/* Lack of slots is all the same, and so is a turn that has come. */
static void class_of(const struct model_run *run, char *text, size_t room)
{
	model_reason(run, text, room);
	if (strstr(text, "in use") != NULL || strcmp(text, "-") == 0)
		snprintf(text, room, "slots");
}

static bool waits_at_gate(const struct model_run *run)
{
	return run->id != 0 && run->want > 0 && run->entered == 0 && run->space < SPACES &&
	    model_find(run->after) == NULL;
}

/* Another one of its owner and group enters their workspace before it: it is not told who is in. */
static bool is_behind(const struct model_run *run)
{
	for (size_t i = 0; i < RUNS && waits_at_gate(run); i++) {
		const struct model_run *other = &model.runs[i];

		if (waits_at_gate(other) && other->space == run->space && other->group == run->group &&
		    other->owner == run->owner && (other->priority != run->priority ?
		    other->priority > run->priority : other->id < run->id))
			return true;
	}
	return false;
}

static uint64_t random_state;

static unsigned pick(unsigned below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % below;
}

static struct model_run *random_run(void)
{
	return model_find(model.runs[pick(RUNS)].id);
}

static int64_t last_id;

static void random_add(struct schedule *s)
{
	struct model_run *run = &model.runs[pick(RUNS)];
	const struct model_run *after = random_run();

	if (run->id != 0)
		return;
	*run = (struct model_run){ .id = ++last_id, .owner = pick(OWNERS),
	    .priority = (int64_t)pick(3) - 1, .after = ROW_NONE,
		.group = (int)pick(GROUPS), .space = (int)pick(SPACES + 1), .told = "new" };
	if (after != NULL && after != run && pick(3) == 0)
		run->after = after->id;
	schedule_add(s, &(struct schedule_run){ run->id, run->owner, run->priority, run->after,
	    group_names[run->group], space_names[run->space] });
}

static void random_change(struct schedule *s)
{
	struct model_run *run = random_run();
	unsigned group = pick(GROUPS);

	switch (pick(run != NULL ? 17 : 2)) {
	case 0:
		model.slots = pick(8);
		schedule_set_slots(s, model.slots);
		return;
	case 1:
		model.groups[group].slots = pick(4) == 0 ? ROW_NONE : (int64_t)pick(4);
		model.groups[group].paused = pick(4) == 0;
		schedule_set_group(s, group_names[group], model.groups[group].slots, model.groups[group].paused);
		return;
	case 2: case 3: case 4:
		run->want = pick(4);
		schedule_want(s, run->id, run->want);
		return;
	case 5:
		if (pick(4) == 0)
			both_take(s, run);
		return;
	case 6: case 7: case 8:
		run->permits -= run->permits > 0;
		schedule_give(s, run->id);
		return;
	case 9:
		both_enter(run);
		schedule_occupy(s, run->id);
		return;
	case 14:
		run->priority = (int64_t)pick(3) - 1;
		schedule_set_priority(s, run->id, run->priority);
		return;
	case 10: case 11: case 12: case 13:
		schedule_remove(s, run->id);
		run->id = 0;
		return;
	default:
		if ((run = model_find(schedule_next(s))) != NULL)
			both_take(s, run);
		return;
	}
}

static int64_t expect_same(struct schedule *s)
{
	enum wait_kind kind;
	int64_t blocker;
	struct model_run *run = random_run();
	char want[64], *reason;
	unsigned group = pick(GROUPS);
	int64_t next = model_next();

	ck_assert_int_eq(schedule_next(s), next);
	ck_assert_int_eq(schedule_used(s), sums.all);
	ck_assert_int_eq(schedule_group_used(s, group_names[group]), sums.group[group]);
	if (run == NULL)
		return next;
	ck_assert_int_eq(schedule_permits(s, run->id), run->permits);
	model_reason(run, want, sizeof(want));
	reason = schedule_reason(s, run->id, &kind, &blocker);
	ck_assert_int_eq(kind, kind_of(reason));
	ck_assert_str_eq(reason != NULL ? reason : run->want > 0 ? "-" : "", want);
	free(reason);
	return next;
}

static uint64_t told, told_in_vain;

/* Whoever's reason is of another kind than when it was told is told, and nobody twice; not all,
 * sometimes, and then the rest later. Of those that wait for one workspace, who is next. */
static void expect_told(struct schedule *s)
{
	bool now[RUNS] = { false }, all = pick(4) != 0, known;
	char class[64];
	int64_t id;

	for (unsigned left = pick(5); (all || left-- > 0) && (id = schedule_changed(s)) != 0;) {
		struct model_run *run = model_find(id);

		ck_assert_ptr_nonnull(run);
		ck_assert_msg(!now[run - model.runs], "run %d is told twice", (int)id);
		now[run - model.runs] = true;
		class_of(run, class, sizeof(class));
		told++;
		told_in_vain += strcmp(run->told, class) == 0;
		memcpy(run->told, class, sizeof(class));
	}
	for (size_t i = 0; i < RUNS && all; i++) {
		if (model.runs[i].id == 0)
			continue;
		class_of(&model.runs[i], class, sizeof(class));
		known = strcmp(model.runs[i].told, class) == 0;
		if (is_behind(&model.runs[i]))
			known = model.runs[i].told[0] != '\0';
		ck_assert_msg(known, "run %d: told '%s', is '%s'", (int)model.runs[i].id, model.runs[i].told, class);
	}
}

START_TEST(as_the_reference)
{
	struct schedule *s = schedule_new(0);
	uint64_t sat = 0, begin = steps;

	random_state = 4;
	for (size_t i = 0; i < GROUPS; i++)
		model.groups[i].slots = ROW_NONE;
	for (int i = 0; i < 100000; i++) {
		if (pick(4) == 0)
			random_add(s);
		else
			random_change(s);
		model_sum();
		sat += expect_same(s) != 0;
		if (pick(8) == 0)
			expect_told(s);
	}
	schedule_free(s);
	ck_assert_uint_lt(steps - begin, STEPS_MAX);
	/* it was a history in which something happened, and few were told what they knew */
	ck_assert_uint_gt(sat, 10000);
	ck_assert_uint_gt(told, 10000);
	ck_assert_msg(told_in_vain < told / 2, "%llu of %llu in vain",
	    (unsigned long long)told_in_vain, (unsigned long long)told);
}
END_TEST

/* ---- cost ---- */

enum call { CALL_ADD, CALL_WANT, CALL_NEXT, CALL_TAKE, CALL_GIVE, CALL_REASON, CALL_CHANGED, CALL_REMOVE, CALLS };
static const char *const call_names[CALLS] = { "add", "want", "next", "take", "give", "reason", "changed", "remove" };

static uint64_t worst[CALLS];

#define COUNTED(call, ...) \
	do { \
		uint64_t begin = steps; \
		__VA_ARGS__; \
		if (steps - begin > worst[call]) \
			worst[call] = steps - begin; \
	} while (0)

static int64_t first_running[64];
static size_t running;

/* Half of the runs want one and the same workspace, an eighth comes after another, five owners in
 * four groups, one of them with a limit. */
static void crowd_add(struct schedule *s, int64_t id)
{
	char path[32];
	struct schedule_run run = { .id = id, .owner = id % 5, .priority = id % 3,
	    .after = id % 8 == 0 ? id - 1 : ROW_NONE, .group = group_names[id % GROUPS] };

	snprintf(path, sizeof(path), "/%lld", (long long)(id % 4 == 1 ? id / 3 : 0));
	run.workspace = id % 4 == 3 ? NULL : path;
	COUNTED(CALL_ADD, schedule_add(s, &run));
	COUNTED(CALL_WANT, schedule_want(s, id, 1 + id % 3));
}

static void fill_permits(struct schedule *s)
{
	enum wait_kind kind;
	int64_t next = 0, blocker;
	char *reason;

	for (;;) {
		COUNTED(CALL_NEXT, next = schedule_next(s));
		if (next == 0)
			break;
		COUNTED(CALL_TAKE, schedule_take(s, next));
		if (schedule_permits(s, next) == 1)
			first_running[running++] = next;
		ck_assert_uint_le(running, 64);
	}
	for (int i = 0; i < 3; i++) {
		COUNTED(CALL_CHANGED, next = schedule_changed(s));
		COUNTED(CALL_REASON, reason = schedule_reason(s, next, &kind, &blocker));
		free(reason);
	}
}

/* 64 slots, so many waiting, and events of a longer and longer history. */
static void measure(size_t queued, int events)
{
	struct schedule *s = schedule_new(64);
	int64_t id = 0;

	memset(worst, 0, sizeof(worst));
	running = 0;
	schedule_set_group(s, group_names[2], 8, false);
	while (id < (int64_t)queued)
		crowd_add(s, ++id);
	fill_permits(s);
	ck_assert_int_ge(schedule_used(s), 40);
	for (int i = 0; i < events; i++) {
		size_t at = (size_t)i * 7 % running;
		int64_t ended = first_running[at];

		first_running[at] = first_running[--running];
		COUNTED(CALL_GIVE, schedule_give(s, ended));
		COUNTED(CALL_REMOVE, schedule_remove(s, ended));
		crowd_add(s, ++id);
		fill_permits(s);
	}
	schedule_free(s);
}

/* With a hundred times as many in the queue no call walks more than twice as far, which is
 * what a tree may do. */
START_TEST(the_cost_of_an_event)
{
	uint64_t few[CALLS], more[CALLS];

	measure(100, 2000);
	memcpy(few, worst, sizeof(few));
	measure(10000, 2000);
	memcpy(more, worst, sizeof(more));
	for (int call = 0; call < CALLS; call++)
		ck_assert_msg(more[call] <= 2 * few[call] + 20,
		    "%s: %llu steps with 100 in the queue, %llu with 10,000", call_names[call],
		    (unsigned long long)few[call], (unsigned long long)more[call]);
	measure(100, 20000);
	for (int call = 0; call < CALLS; call++)
		ck_assert_msg(worst[call] <= few[call] + few[call] / 2,
		    "%s: %llu steps after 2,000 runs, %llu after 20,000", call_names[call],
		    (unsigned long long)few[call], (unsigned long long)worst[call]);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { every_scene, as_the_reference, the_cost_of_an_event };

	return RUN_SUITE("schedule", tests);
}
