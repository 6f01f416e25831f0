/* SPDX-License-Identifier: MIT */
/* Prompts: parts in a fixed order, caps in code points, Markdown templates with {{name}} placeholders. Pure. */
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

/* Everything a prompt may be made of; what a role must not see is left out by the caller's profile row, not here. */
struct prompt_parts {
	struct span template;		/* file text; NULL data: built-in of role and profile */
	const char *task_id, *task_title, *task_status, *task_priority;
	struct span task;		/* text */
	int64_t round;			/* review n or fix n */
	int64_t max_reviews;
	struct span follow_up;		/* feedback of the previous review */
	struct span answer;		/* under review, capped at PROMPT_CAP code points */
	struct span diff;		/* capped */
	bool diff_dropped;		/* the recorded diff itself was cut in the middle */
	bool shared_tree;		/* another slot writes the same tree: warn */
	bool interrupted;		/* the attempt before this one was interrupted: say so */
	const char *verdict_file;	/* path offered in the response contract, NULL: none */
};

#define PROMPT_CAP 50000

/* The whole prompt, malloc'd, *size bytes, UTF-8 without NUL. Never fails.
 * Placeholders of a template: {{context}} is all that the role gets, in this order: {{interrupted}} {{task}} {{follow_up}}
 * {{answer}} {{diff}} {{shared_tree}} {{contract}}, each a section with its heading, or nothing; inside a line {{task_id}}
 * {{task_title}} {{round}} {{max_reviews}} {{verdict_file}}. What is put in is never scanned again; unknown ones stay as
 * they are. A template with no known placeholder gets the context behind it, a reviewer's without contract the contract. */
char *prompt_build(const struct profile *profile, enum role role, const struct prompt_parts *parts, size_t *size);

/* Invalid UTF-8 is replaced by U+FFFD; beyond cap code points head and tail are kept with
 * a visible "[... N characters left out ...]" line between. malloc'd. */
char *prompt_cap(struct span text, size_t cap, size_t *size);

/* The built-in template of a role, from prompt/templates/<profile>-<role>.md, else <role>.md. */
struct span prompt_builtin(const struct profile *profile, enum role role);

/* File name of a role's template in .ai_agents/prompts/ and <config>/prompts/: "developer.md", "reviewer.md", "fixer.md". */
const char *prompt_file_name(enum role role);

#endif
