/* SPDX-License-Identifier: MIT */
/* Values by path and the order in which layers are asked: the inside of this room. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "config/setting.h"

struct value {
	char *path;			/* "agent.claude.model" */
	const struct setting *setting;
	json_t *json;			/* fits the setting */
	unsigned line, column;		/* 0 in an override */
	char *field;			/* parameter of an override, else NULL */
};

struct values {
	struct value *list;
	size_t count;
};

struct value *values_find(const struct values *values, const char *path);
/* A new or emptied value of that path; json is taken over. */
struct value *values_put(struct values *values, const char *path, const struct setting *setting, json_t *json);
void values_release(struct values *values);

/* The layers of one lookup, the strongest first. */
struct layers {
	const struct values *submit;	/* NULL: none */
	const struct config *config;
	const struct profile *profile;	/* NULL: not known yet */
};

/* The value of path: submit, file, profile, preset, default. New reference, NULL when it is unset. from, when not NULL,
 * gets its origin as a new string; field, when not NULL, the submit's parameter (not owned). */
json_t *layers_get(const struct layers *layers, const char *path, char **from, const char **field);

/* Fill in error and return -1. field may be NULL. */
int config_refuse(struct config_error *error, const char *field, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* config_load() of a text; name stands for the file in messages. */
int config_parse(struct config **out, const char *name, const char *text, size_t size, struct config_error *error);

const struct values *config_values(const struct config *config);

/* True for a preset and for an [agent.NAME]. */
bool config_has_agent(const struct config *config, const char *name);

/* config_refuse() for a name that is no agent; where: place or parameter. */
int config_refuse_agent(const struct config *config, struct config_error *error, const char *field, const char *where, const char *name);

#endif
