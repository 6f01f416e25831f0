/* SPDX-License-Identifier: MIT */
/* Values by path, for one layer. Private to this room. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <jansson.h>
#include <stddef.h>

#include "config/setting.h"

struct value {
	char *path;			/* "agent.claude.model" */
	const struct setting *setting;	/* NULL: a table of a file */
	json_t *json;			/* valid for the setting */
	unsigned line, column;		/* 0 in an override */
	char *field;			/* parameter of an override, otherwise NULL */
};

struct values {
	struct value *list;
	size_t count;
};

struct value *values_find(const struct values *values, const char *path);
/* A new or emptied value of that path; takes ownership of json. */
struct value *values_put(struct values *values, const char *path, const struct setting *setting, json_t *json);
void values_release(struct values *values);

#endif
