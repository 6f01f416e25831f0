/* SPDX-License-Identifier: MIT */
/* Prompts: parts in a fixed order, limits in code points, Markdown templates with {{name}}
 * placeholders. Pure. */
#ifndef PROMPT_PROMPT_H
#define PROMPT_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "core/state.h"
#include "proto/memory.h"

/* A sequence of bytes, not owned. NULL data: missing. */
struct span {
	const char *data;
	size_t size;
};

/* An earlier review. */
struct prompt_review {
	int64_t round;
	const char *decision, *feedback, *by;
	struct span answer;	/* that it was about; NULL data: given elsewhere, or none */
};

/* Whether the implementer declared that no change is needed. */
enum no_change { NO_CHANGE_UNASKED, NO_CHANGE_SAID, NO_CHANGE_UNSAID };

/* Everything a prompt may contain. The profile's row decides what a role gets (review_sees,
 * fix_sees); an implementer gets project and task, and the message of a human who sent it back. A
 * part that a role does not see is never written, even if its template has the placeholder. Texts
 * are limited to PROMPT_CAP code points each, the task is complete. */
struct prompt_parts {
	/* text of the file; NULL data: built-in one for role and profile */
	struct span template;
	const char *task_id, *task_title, *task_status, *task_priority;
	struct span task;		/* text */
	/* name of the project: the directory's, if the source has none */
	const char *project;
	const char *feature;		/* description of the project */
	struct span stories;		/* all tasks of the run, as Markdown */
	int64_t round;			/* review n or fix n */
	int64_t max_reviews;
	/* by_round: thorough in round 1, only blocking bugs in the last, significant issues
	 * between */
	enum strictness strictness;
	struct span follow_up;		/* feedback of the previous review, of a failed
					 * check or of a human */
	const char *follow_up_from;	/* "review" (also NULL), "check", "human", "git", "base" */
	struct span dismissed;		/* Markdown: findings that users dismissed */
	/* Markdown: REVIEW: findings that the fixer disputes; FIX: those it may dispute, with
	 * ids */
	struct span disputed;
	struct span guidelines;		/* Markdown, see prompt_section() */
	struct span conventions;	/* Markdown: the files' contents under their names */
	const struct prompt_review *history;	/* earlier reviews of the task, oldest first;
						 * their answers only with PART_ANSWER */
	size_t nhistory;
	const char *review_file;	/* name of the carrier file, NULL: none */
	bool read_only;			/* only the carrier file is writable */
	bool resumed;			/* resumed conversation: a fixer's prompt is only the
					 * feedback, and that it was interrupted */
	struct span answer;		/* under review */
	struct span diff;
	bool unchanged;			/* the tree is that of before the task */
	bool diff_dropped;		/* the recorded diff was cut in the middle */
	const char *diff_file;		/* path of all of it, NULL: none */
	bool shared_tree;		/* another slot writes to the same tree: warn */
	/* a reviewer's answer in the resumed conversation is malformed, and why: the prompt is only
	 * the question and the contract. NULL: it is not */
	const char *asked;
	/* IMPLEMENT, FIX: it may ask a human. What an attempt at this work has asked, and the
	 * answer; NULL: nothing, none. In the resumed conversation of that attempt the prompt is
	 * only the answer */
	bool may_ask;
	const char *question, *reply;
	bool goes_on;
	bool interrupted;		/* the previous attempt was interrupted: say so */
	const char *interruption;	/* ... why, one line; NULL: unknown */
	/* of the review attempt, never written as a whole; NULL: the run's version had none */
	const char *nonce;
	const char *verdict_file;	/* path offered in the response contract, NULL: none */
	const char *no_change_marker;	/* line by which an implementer says that nothing is to
					 * be changed; NULL: not evaluated */
	enum no_change no_change;	/* whether the answer under review contains it */
};

#define PROMPT_CAP 50000

/* What a role of a profile sees, a mask of enum part. An implementer's does not depend on the
 * profile, which may be NULL. */
unsigned prompt_sees(const struct profile *profile, enum role role);

/* The whole prompt, malloc'd, *size bytes, UTF-8 without NUL. Never fails. Placeholders of a
 * template: {{context}} is all that the role gets, in this order: {{interrupted}} {{project}}
 * {{task}} {{review_iteration}} {{follow_up}} {{dismissed}} {{disputed}} {{guidelines}}
 * {{conventions}} {{history}} {{answer}} {{diff}} {{shared_tree}} {{no_change}} {{question}}
 * {{contract}}, each a section with its heading, or nothing; {{stories}} and {{strictness}} are
 * blocks of text; inside a line {{task_id}} {{task_title}} {{project_name}} {{feature}} {{round}}
 * {{max_reviews}} {{review_file}} {{verdict_file}} {{nonce_halves}} {{no_change_marker}}
 * {{no_questions}}. What is put in is never scanned again; unknown ones stay as they are. A
 * template with no known placeholder gets the context behind it, one without {{disputed}} or
 * {{question}} that section, a reviewer's without contract the contract. */
char *prompt_build(const struct profile *profile, enum role role, const struct prompt_parts *parts, size_t *size);

/* What the reviewer is given in its prompt to judge: all but the template and the contract,
 * malloc'd, *size bytes. A verdict that stands in it may be a copy. */
char *prompt_given(const struct profile *profile, const struct prompt_parts *parts, size_t *size);

/* The section of a Markdown text under the first heading equal to `heading` (ignoring ASCII case
 * and white space); if there is none, the first one with a number before it ("3. Standards").
 * Includes the heading, up to the next heading of the same or a higher level, unchanged. CommonMark
 * defines headings: none in code blocks, and none in quotations or lists. malloc'd; NULL: no such
 * section. */
char *prompt_section(struct span markdown, const char *heading);

/* Replaces invalid UTF-8 by U+FFFD; of more than cap code points, beginning and end are kept with a
 * line "[... N characters left out ...]" between. malloc'd. */
char *prompt_cap(struct span text, size_t cap, size_t *size);

/* The bytes that stay of such a text: those before *head, and those from *tail on. Returns the
 * number of code points between; 0: all of it stays. */
size_t prompt_cut(struct span text, size_t cap, size_t *head, size_t *tail);
/* The line between, on a line of its own. */
void prompt_gap(struct buf *out, size_t points);

/* The built-in template of a role: prompt/templates/<profile>-<role>.md, otherwise <role>.md. NULL
 * data: checks have none. */
struct span prompt_builtin(const struct profile *profile, enum role role);

/* File name of a role's template in .ai_agents/prompts/ and <config>/prompts/: "developer.md",
 * "reviewer.md", "fixer.md", "commit.md"; NULL: checks have none. */
const char *prompt_file_name(enum role role);

#endif
