/* SPDX-License-Identifier: MIT */
/* Prompts: parts in a fixed order, caps in code points, Markdown templates with {{name}}
 * placeholders. Pure. */
#ifndef PROMPT_PROMPT_H
#define PROMPT_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "core/state.h"

/* A stretch of bytes, not owned. NULL data = not there. */
struct span {
	const char *data;
	size_t size;
};

/* One earlier review. */
struct prompt_review {
	int64_t round;
	const char *decision, *feedback, *by;
	struct span answer;	/* that it was about; NULL data: given elsewhere, or none */
};

/* Has the implementer said that nothing is to be changed? */
enum no_change { NO_CHANGE_UNASKED, NO_CHANGE_SAID, NO_CHANGE_UNSAID };

/* Everything a prompt may be made of. What a role is given of it is in the profile's row
 * (review_sees, fix_sees); an implementer gets project and task, and what a human said who sent it
 * back. A part that a role does not see is never written, also where its template has the
 * placeholder. Texts are capped at PROMPT_CAP code points each, the task is whole. */
struct prompt_parts {
	struct span template;		/* file text; NULL data: built-in of role and profile */
	const char *task_id, *task_title, *task_status, *task_priority;
	struct span task;		/* text */
	const char *project;		/* name of the project: the directory's, when
					 * no source names it */
	const char *feature;		/* what it is all about */
	struct span stories;		/* all tasks of the run, as Markdown */
	int64_t round;			/* review n or fix n */
	int64_t max_reviews;
	enum strictness strictness;	/* by_round: thorough in round 1, blocking bugs only in the
					 * last, significant issues between */
	struct span follow_up;		/* feedback of the previous review, of a failed
					 * check or of a human */
	const char *follow_up_from;	/* "review" (NULL is), "check", "human", "git" */
	struct span guidelines;		/* Markdown, see prompt_section() */
	struct span conventions;	/* Markdown: the files' contents under their names */
	const struct prompt_review *history;	/* earlier reviews of the task, oldest first;
						 * their answers only with PART_ANSWER */
	size_t nhistory;
	const char *review_file;	/* name of the carrier file, NULL: none */
	bool read_only;			/* only the carrier file can be written */
	bool resumed;			/* resumed conversation: a fixer's prompt is only the
					 * feedback, and that it was interrupted */
	struct span answer;		/* under review */
	struct span diff;
	bool diff_dropped;		/* the recorded diff itself was cut in the middle */
	bool shared_tree;		/* another slot writes the same tree: warn */
	bool interrupted;		/* the attempt before this one was interrupted: say so */
	const char *interruption;	/* ... why, one line; NULL: unknown */
	const char *verdict_file;	/* path offered in the response contract, NULL: none */
	const char *no_change_marker;	/* line by which an implementer says that nothing is to
					 * be changed; NULL: not evaluated */
	enum no_change no_change;	/* what the answer under review says of that */
};

#define PROMPT_CAP 50000

/* What a role of a profile is given, a mask of enum part. An implementer's does not depend on the
 * profile, which may be NULL for it. */
unsigned prompt_sees(const struct profile *profile, enum role role);

/* The whole prompt, malloc'd, *size bytes, UTF-8 without NUL. Never fails. Placeholders of a
 * template: {{context}} is all that the role gets, in this order: {{interrupted}} {{project}}
 * {{task}} {{review_iteration}} {{follow_up}} {{guidelines}} {{conventions}} {{history}}
 * {{answer}} {{diff}} {{shared_tree}} {{no_change}} {{contract}}, each a section with its heading,
 * or nothing; {{stories}} and {{strictness}} are blocks of text; inside a line {{task_id}}
 * {{task_title}} {{project_name}} {{feature}} {{round}} {{max_reviews}} {{review_file}}
 * {{verdict_file}} {{no_change_marker}}. What is put in is never scanned again; unknown ones stay
 * as they are. A template with no known placeholder gets the context behind it, a reviewer's
 * without contract the contract. */
char *prompt_build(const struct profile *profile, enum role role, const struct prompt_parts *parts, size_t *size);

/* The section of a Markdown text under the first heading that reads `heading` (ASCII letter case
 * and white space aside), or when none does, the first that reads so behind a number ("3.
 * Standards"), the heading itself included, up to the next heading of its level or above, as it
 * stands. CommonMark decides what a heading is: one in a code block is none, and one in a quotation
 * or a list is none of this text. malloc'd; NULL: there is none. */
char *prompt_section(struct span markdown, const char *heading);

/* Invalid UTF-8 is replaced by U+FFFD; beyond cap code points head and tail are kept with
 * a visible "[... N characters left out ...]" line between. malloc'd. */
char *prompt_cap(struct span text, size_t cap, size_t *size);

/* The built-in template of a role, from prompt/templates/<profile>-<role>.md, else <role>.md. NULL
 * data: a check has none. */
struct span prompt_builtin(const struct profile *profile, enum role role);

/* File name of a role's template in .ai_agents/prompts/ and <config>/prompts/: "developer.md",
 * "reviewer.md", "fixer.md", "commit.md"; NULL: a check has none. */
const char *prompt_file_name(enum role role);

#endif
