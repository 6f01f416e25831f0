/* SPDX-License-Identifier: MIT */
/* A YAML document as a tree with the line and column of every node. Plain data only: anchors,
 * aliases, tags and duplicate keys are refused. The core schema of YAML 1.2 decides the type of a
 * plain word. Pure. */
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
	bool plain;			/* TEXT: unquoted, so it may be another type */
	struct node **items;	/* MAP: key, value, key, value; keys are TEXT and unique */
	size_t count;			/* number of items */
};

/* The only document of text. NULL with *error, "LINE:COLUMN: message" with the remedy, malloc'd. */
struct node *node_read(const char *text, size_t size, char **error);
void node_free(struct node *node);

/* The value of name in a MAP; NULL: none. */
const struct node *node_get(const struct node *map, const char *name);

/* Type of a node in the core schema: "text", "a number", "true", "null", "a list", "a mapping". */
const char *node_describe(const struct node *node);

bool node_is_string(const struct node *node);
bool node_is_null(const struct node *node);
bool node_to_bool(const struct node *node, bool *out);
/* Within int64_t. */
bool node_to_int(const struct node *node, int64_t *out);

#endif
