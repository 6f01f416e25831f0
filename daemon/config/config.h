/* SPDX-License-Identifier: MIT */
/* Settings: one table of keys, filled from layers, each value with its origin. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"

struct config_error {
	char text[512];		/* a sentence with place and remedy: "/etc/rld/rld.toml:3:1: unknown key 'x' ..." */
	char field[64];		/* the submit parameter at fault, "" when it is none */
};

struct config;

/* path NULL or a file that does not exist: defaults only (explicit = true makes a missing file an error).
 * 0, or -1 with error. */
int config_load(struct config **out, const char *path, bool explicit_path, struct config_error *error);
void config_free(struct config *config);

/* The path it was read from, NULL when there was no file. */
const char *config_path(const struct config *config);

/* slots of the whole daemon */
int64_t config_parallel(const struct config *config);

/* Names of the variables that any agent takes from the submitter's environment, sorted, each once. Free with strings_free(). */
char **config_agent_env(const struct config *config);

/* One setting that a submit names, "review.agent" = "\"claude\"" (JSON text of the value). */
struct config_override {
	const char *path;	/* a row of the settings table that a submit may set */
	const char *value;	/* JSON */
	const char *field;	/* the parameter it came from, for errors: "reviewer_agent" */
};

/* The settings of one run: command line over [run] and [review] over profile over default.
 * 0, or -1 with error. plan_release() frees what it filled. */
int config_resolve(const struct config *config, const struct config_override *overrides, size_t count, struct plan *plan, struct config_error *error);

/* plan <-> the JSON of the run row. plan_from_json: 0 or -1 (a damaged row). */
char *plan_to_json(const struct plan *plan);
int plan_from_json(const char *json, struct plan *plan);

/* Effective values in the order of the table: called once per key. value is JSON, from "default", "profile verdict", "/etc/rld/rld.toml:7". */
void config_each(const struct config *config, void (*each)(void *arg, const char *path, const char *value, const char *from, const char *help), void *arg);

#endif
