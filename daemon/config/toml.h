/* SPDX-License-Identifier: MIT */
/* A TOML text as a flat list: every table and every value with its path and place. The
 * one door to toml++. */
#ifndef CONFIG_TOML_H
#define CONFIG_TOML_H

#include <jansson.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Dotted keys nest without bound, and toml++ recurses: this much text stays far from the
 * end of the stack. */
#define TOML_SIZE_MAX (32 * 1024)

struct toml_place {
	unsigned line, column;	/* from 1; columns count code points */
};

struct toml_entry {
	char *path;			/* "agent.claude.set.K"; a segment that is no bare key
					 * stands in quotes */
	json_t *value;			/* string, integer, real, boolean or array; NULL: a table,
					 * its members follow. A table inside an array is an object;
					 * a key of it that is no bare key stands in quotes */
	struct toml_place key, at;	/* where the key, where the value stands */
};

/* Entries in the order of the text. An empty error says that it was parsed. */
struct toml_list {
	struct toml_entry *entries;
	size_t count;
	char error[256];
	struct toml_place error_at;
};

/* 0, or -1 with error set. toml_release() in both cases. */
int toml_parse(const char *text, size_t size, struct toml_list *out);
void toml_release(struct toml_list *list);

#ifdef __cplusplus
}
#endif

#endif
