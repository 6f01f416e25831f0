/* SPDX-License-Identifier: MIT */
/* A TOML text as a flat list: every table and every value with its path and place. The only file
 * that uses toml++. */
#ifndef CONFIG_TOML_H
#define CONFIG_TOML_H

#include <jansson.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Dotted keys nest without bound, and toml++ recurses: a text of this size is safe for the
 * stack. */
#define TOML_SIZE_MAX (32 * 1024)

struct toml_place {
	unsigned line, column;	/* from 1; columns count code points */
};

struct toml_entry {
	/* "agent.claude.set.K"; a segment that is not a bare key is quoted */
	char *path;
	/* string, integer, real, boolean or array; NULL: a table, whose members follow. A table
	 * inside an array is an object; a key of it that is not a bare key is quoted */
	json_t *value;
	struct toml_place key, at;	/* place of the key, and of the value */
};

/* Entries in text order. An empty error means success. */
struct toml_list {
	struct toml_entry *entries;
	size_t count;
	char error[256];
	struct toml_place error_at;
};

/* Returns 0, or -1 with error set. Call toml_release() in any case. */
int toml_parse(const char *text, size_t size, struct toml_list *out);
void toml_release(struct toml_list *list);

#ifdef __cplusplus
}
#endif

#endif
