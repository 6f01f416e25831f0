/* SPDX-License-Identifier: MIT */
/* The rounds of a task whose work was not good enough, and whether one of them comes back: the loop
 * makes no progress then. Pure. */
#ifndef CORE_ROUNDS_H
#define CORE_ROUNDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Work to which a reviewer, a check or git objected. */
struct judged_round {
	int64_t fix;			/* fix rounds before it */
	int64_t review;			/* number of its review; ROW_NONE: it had none */
	const char *tree;		/* NULL: not known, or no git */
	const char *findings;		/* hash of what was objected; NULL: not known */
	bool same;			/* git objects to it as it did to the round before */
	/* array of ids of findings whose dispute its reviewer was given; NULL: none */
	const json_t *disputed;
};

/* What the rounds before it say about one. */
struct repeat {
	/* fixes in a row without progress, up to this round; 0: it is new */
	int64_t wasted;
	/* "round 4 repeats round 2: the tree is the same"; NULL: it is new. malloc'd */
	char *text;
};

/* Compare the round with all those of list, a JSON array of this module (NULL: none), and add it.
 * wasted: of the round before. If the tree or the findings are those of an earlier round, all
 * fixes since that one were in vain. One whose reviewer was given the dispute of a finding that was
 * not disputed before asks something new, and repeats none. Returns the new list, malloc'd. */
char *rounds_add(const char *list, const struct judged_round *now, int64_t wasted, struct repeat *repeat);

/* A human sends back the work after that many fixes: progress is counted from the last round on.
 * Returns the new list, malloc'd; NULL if list is. */
char *rounds_restart(const char *list, int64_t fix);

#endif
