/* SPDX-License-Identifier: MIT */
/* What rlctl init proposes for a project, from the signs found in its directory. Pure: all values
 * come from tables, none from the files, which may be hostile. */
#ifndef CLIENT_INIT_PROPOSAL_H
#define CLIENT_INIT_PROPOSAL_H

#include <stdbool.h>
#include <stddef.h>

#define SIGNS_MAX 128
#define SIGN_PATH_MAX 64	/* longer names are no sign of anything */

/* What was found: a file, or what a file says. */
struct sign {
	const char *what;	/* borrowed from a table: "package-lock.json", "scripts.test" */
	char where[SIGN_PATH_MAX];	/* path of the file, of harmless characters */
};

struct signs {
	struct sign list[SIGNS_MAX];
	size_t count;
};

enum proposal_key { PROPOSAL_SETUP, PROPOSAL_COPY, PROPOSAL_CHECK, PROPOSAL_KEYS };

struct proposal {
	enum proposal_key key;
	const char *value;	/* borrowed from a table: a command, or a pattern of run.copy */
	const char *program;	/* which the command needs on PATH; NULL: none */
	const char *where;	/* the file that led to it; borrowed from the signs */
};

#define PROPOSALS_MAX 24

/* The directories to look into, relative, the project's own ("") first; ends with NULL. */
extern const char *const proposal_directories[];

/* Whether a file of this path can be a sign, and whether its text can be one as well. */
bool proposal_wants(const char *path);
bool proposal_reads(const char *path);

/* Add the signs of a file that is there, and those of its text. */
void proposal_add_file(struct signs *signs, const char *path);
void proposal_add_text(struct signs *signs, const char *path, const char *text, size_t size);

/* Fill out, which has PROPOSALS_MAX entries: setup, then copy, then checks. Returns their number.
 * Copies are of all files that a build may need: whether git ignores them is left to the caller. */
size_t proposal_make(const struct signs *signs, struct proposal *out);

#endif
