/* SPDX-License-Identifier: MIT */
/* Tasks as their sources tell of them: a PRD's stories, a workflow's steps, a directory's beads.
 * Pure: text in, list out. */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest id of a task, in bytes. */
#define TASK_ID_MAX 200

struct task_item {
	char *id;
	char *title;			/* NULL: none */
	char *status;			/* the source's own word: "open",
					 * "in_progress"; NULL: none */
	int64_t priority;		/* 0 goes first; ROW_NONE: none */
	char *description;		/* the task's text, Markdown; NULL: none */
	char *acceptance;		/* Markdown: one "- " line a criterion when the source has a
					 * list; NULL: none */
	char **depends_on;		/* ids, NULL-terminated; NULL: none */
	bool done;			/* passes: true, closed */
	bool ready;			/* beads: open, and nothing that the source knows
					 * of holds it back */
	char **held_by;			/* beads: not ready, and it will be when these are done:
					 * ids, NULL-terminated; NULL: something else holds it
					 * back, or nothing */
	char *updated_at;		/* beads: the source's own text; NULL: none */
	/* workflow only */
	char *agent;			/* NULL: the run's */
	bool review;			/* its overlay is enabled: profile "decision" */
	char *coder, *reviewer;		/* agents of the overlay, NULL: not given */
	int64_t max_reviews;		/* max_iterations of the overlay, ROW_NONE: not given */
	size_t line, column;		/* where an unknown agent would be told of: of `agent`, else
					 * of the task; 0: not known */
	/* the same of the agents of the overlay, 0: not given */
	size_t coder_line, coder_column, reviewer_line, reviewer_column;
};

struct task_list {
	struct task_item *items;	/* in the order in which they are offered: by priority where
					 * the source has them, then as written or by id */
	size_t count;
	char *project, *description;	/* of the whole, NULL: none */
};

void task_list_release(struct task_list *list);

/* All readers: 0, or -1 with *error, a sentence for the person who submitted it, with place and
 * remedy, malloc'd; the list is empty then. Ids are 1 to TASK_ID_MAX bytes without control
 * characters and unique; dependencies name ids of the list, and there is no cycle. */

/* A PRD: project, description, userStories[] with id, title, description, acceptanceCriteria,
 * priority, passes; see SPEC 4.3. Other keys are passed over: real tools write many. Offered by
 * priority, then as written. */
int stories_read(const char *text, size_t size, struct task_list *list, char **error);

/* A workflow in YAML of requirement 001. Unknown keys, cycles, aliases, tags and duplicates are
 * errors with line and column: "workflow:12:5: ...". */
int workflow_read(const char *text, size_t size, struct task_list *list, char **error);

/* .beads/issues.jsonl: the last line of an id wins; one malformed line makes the file untrusted,
 * and *error names it. Lines of another "_type" than issue are passed over. Offered by priority,
 * then id; `ready` is worked out from the dependencies. Dependencies on ids that are not in the
 * file, or that form a cycle, are no error here: the bead is not ready. */
int beads_read_jsonl(const char *text, size_t size, struct task_list *list, char **error);

/* The PRD text with passes: true at the story id, in the form the file has (indentation, order of
 * keys, last newline). malloc'd, *out_size bytes; NULL with *error when it is no PRD or has no such
 * story. */
char *stories_pass(const char *text, size_t size, const char *id, size_t *out_size, char **error);

#endif
