/* SPDX-License-Identifier: MIT */
/* Tasks from their sources: the stories of a PRD, the steps of a workflow, the beads of a
 * directory. Pure: text in, list out. */
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
	int64_t priority;		/* 0 comes first; ROW_NONE: none */
	char *description;		/* the task's text, Markdown; NULL: none */
	/* Markdown: a "- " line per criterion if the source has a list; NULL: none */
	char *acceptance;
	char **depends_on;		/* ids, NULL-terminated; NULL: none */
	bool done;			/* passes: true, closed */
	/* beads: open, and not blocked as far as the source tells */
	bool ready;
	/* beads: not ready until these are done: ids, NULL-terminated; NULL: blocked otherwise, or
	 * not at all */
	char **held_by;
	char *updated_at;		/* beads: timestamp as written in the source; NULL: none */
	/* workflow only */
	char *agent;			/* NULL: the run's */
	bool review;			/* its overlay is enabled: profile "decision" */
	char *coder, *reviewer;		/* agents of the overlay, NULL: not given */
	int64_t max_reviews;		/* max_iterations of the overlay, ROW_NONE: not given */
	/* place for an error about an unknown agent: of `agent`, otherwise of the task; 0:
	 * unknown */
	size_t line, column;
	/* likewise for the agents of the overlay, 0: not given */
	size_t coder_line, coder_column, reviewer_line, reviewer_column;
};

struct task_list {
	/* in the order of the source: by priority if it has priorities, then as written or by id */
	struct task_item *items;
	size_t count;
	char *project, *description;	/* of all tasks together, NULL: none */
};

void task_list_release(struct task_list *list);

/* All readers: 0, or -1 with *error, a sentence for the submitter, with place and remedy, malloc'd;
 * the list is empty then. Ids are 1 to TASK_ID_MAX bytes without control characters and unique;
 * dependencies name ids of the list, and there is no cycle. */

/* A PRD: project, description, userStories[] with id, title, description, acceptanceCriteria,
 * priority, passes; see SPEC 4.3. Other keys are ignored, because tools write many. Ordered by
 * priority, then as written. */
int stories_read(const char *text, size_t size, struct task_list *list, char **error);

/* A YAML workflow of requirement 001. Unknown keys, cycles, aliases, tags and duplicates are errors
 * with line and column: "workflow:12:5: ...". */
int workflow_read(const char *text, size_t size, struct task_list *list, char **error);

/* .beads/issues.jsonl: the last line of an id wins; a malformed line makes the whole file invalid,
 * and *error names it. Lines with another "_type" than issue are ignored. Ordered by priority, then
 * id; `ready` is computed from the dependencies. A bead that depends on an unknown id or is part of
 * a cycle is not ready, which is no error here. */
int beads_read_jsonl(const char *text, size_t size, struct task_list *list, char **error);

/* The PRD text with passes: true at the story id, in the file's own format (indentation, order of
 * keys, last newline). malloc'd, *out_size bytes; NULL with *error if it is not a PRD or lacks the
 * story. */
char *stories_pass(const char *text, size_t size, const char *id, size_t *out_size, char **error);

#endif
