/* SPDX-License-Identifier: MIT */
/* A YAML document as a tree that knows the line and column of everything in it. Plain data only:
 * anchors, aliases, tags and keys that come twice are refused. What a plain word means is decided
 * by the core schema of YAML 1.2. Pure. */
#ifndef TASK_NODE_H
#define TASK_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODE_SIZE_MAX ((size_t)1024 * 1024)
#define NODE_DEPTH_MAX 16

enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	size_t line, column;		/* from 1 */
	char *text;			/* TEXT: without a NUL inside */
	bool plain;			/* TEXT: without quotes, so that it may be no string */
	struct node **items;	/* MAP: key, value, key, value; all keys are TEXT and differ */
	size_t count;			/* of items */
};

/* The one document of text. NULL with *error, "LINE:COLUMN: words" with the remedy, malloc'd. */
struct node *node_read(const char *text, size_t size, char **error);
void node_free(struct node *node);

/* The value of name in a MAP; NULL: none. */
const struct node *node_get(const struct node *map, const char *name);

/* What the core schema makes of a node: "text", "a number", "true", "null", "a list", "a
 * mapping". */
const char *node_describe(const struct node *node);

bool node_is_string(const struct node *node);
bool node_is_null(const struct node *node);
bool node_to_bool(const struct node *node, bool *out);
/* Within int64_t. */
bool node_to_int(const struct node *node, int64_t *out);

#endif
