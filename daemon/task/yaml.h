/* SPDX-License-Identifier: MIT */
/* A YAML document as a tree that knows the line and column of everything in it. Plain data only: anchors, aliases, tags and
 * keys that come twice are refused. What a plain word means is decided by the core schema of YAML 1.2. Pure. */
#ifndef TASK_YAML_H
#define TASK_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YAML_SIZE_MAX ((size_t)1024 * 1024)
#define YAML_DEPTH_MAX 16

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	size_t line, column;		/* from 1 */
	char *text;			/* TEXT: without a NUL inside */
	bool plain;			/* TEXT: without quotes, so that it may be no string */
	struct yaml_node **items;	/* MAP: key, value, key, value; all keys are TEXT and differ */
	size_t count;			/* of items */
};

/* The one document of text. NULL with *error, "LINE:COLUMN: words" with the remedy, malloc'd. */
struct yaml_node *yaml_read(const char *text, size_t size, char **error);
void yaml_free(struct yaml_node *node);

/* The value of name in a MAP; NULL: none. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *name);

/* What the core schema makes of a node: "text", "a number", "true", "null", "a list", "a mapping". */
const char *yaml_describe(const struct yaml_node *node);

bool yaml_is_string(const struct yaml_node *node);
bool yaml_is_null(const struct yaml_node *node);
bool yaml_to_bool(const struct yaml_node *node, bool *out);
/* Within int64_t. */
bool yaml_to_int(const struct yaml_node *node, int64_t *out);

#endif
