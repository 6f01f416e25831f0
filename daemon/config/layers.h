/* SPDX-License-Identifier: MIT */
/* The order of the layers: submit, project, rld.toml, profile, default. Private to this room. */
#ifndef CONFIG_LAYERS_H
#define CONFIG_LAYERS_H

#include "config/config.h"
#include "config/reading.h"
#include "config/values.h"

struct profile;
struct resolved;

struct project {
	char *path;			/* "/home/ann/w/.rld.toml" */
	struct values values;
};

/* The layers of a lookup. A zeroed one with a config has only that and the defaults. */
struct layers {
	const struct config *config;
	const struct project *project;	/* NULL: none */
	struct values submit;
	char *profile;			/* NULL: not known yet */
	/* review.enabled is false: a profile that is merely named does not commit */
	bool off;
};

/* The origin of a value. */
struct origin {
	char *text;			/* "command line", "/etc/rld/rld.toml:7", "profile verdict",
					 * "default"; owned */
	const char *name;		/* its name in errors: the parameter, or text */
	const char *field;		/* the submit's parameter at fault, NULL: none */
	bool said;			/* set explicitly for runs, not by a profile or a default */
};

/* Take the overrides, check the names in them and the project, and choose the profile. Call
 * layers_close() in any case. Returns 0, or -1 with error. */
int layers_open(struct layers *layers, const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count, struct config_error *error);
void layers_close(struct layers *layers);

/* The value of path. New reference, NULL if unset. origin, if not NULL, is filled in. */
json_t *layers_get(const struct layers *layers, const char *path, struct origin *origin);

/* The submit itself says it, and no file for it. */
bool layers_submitted(const struct layers *layers, const char *path);

/* The value of path in the chosen profile itself. New reference, NULL: none. */
json_t *layers_profile(const struct layers *layers, const char *path);

/* config_load() for a text; name stands for the file in messages. */
int config_parse(struct config **out, const char *name, const char *text, size_t size, struct config_error *error);

const struct values *config_values(const struct config *config);
/* What was resolved with these settings. */
struct resolved *config_resolved(const struct config *config);
/* Returns -1 with error if value must name an existing agent or profile, and does not; otherwise 0.
 * where: place or parameter. */
int config_check_name(const struct config *config, const struct setting *setting,
    const json_t *value, const char *field, const char *where, struct config_error *error);
/* What the [profile.NAME] of that name extends; NULL: a built-in one, or none. */
const char *config_extends(const struct config *config, const char *profile);
/* The built-in profile that this one finally extends; NULL: no such profile. */
const struct profile *config_profile(const struct config *config, const char *name);
/* Names of all agents: presets, then [agent.NAME]. NULL-terminated. */
char *const *config_agents(const struct config *config);
/* Names of all accounts in the file. NULL-terminated. */
char *const *config_account_names(const struct config *config);
/* Names of all groups: "default", then [group.NAME]. NULL-terminated. */
char *const *config_group_names(const struct config *config);
/* What the launcher of that name is by its preset, or by its name; NULL: none. */
const struct launcher_preset *config_launcher_preset(const struct config *config, const char *name);

/* Launchers: presets and those of the file. */
char *const *config_launcher_names(const struct config *config);

#endif
