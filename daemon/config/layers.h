/* SPDX-License-Identifier: MIT */
/* The order in which layers are asked: submit, project, rld.toml, profile, default.
 * Inside of this room. */
#ifndef CONFIG_LAYERS_H
#define CONFIG_LAYERS_H

#include "config/config.h"
#include "config/reading.h"
#include "config/values.h"

struct profile;

struct project {
	char *path;			/* "/home/ann/w/.rld.toml" */
	struct values values;
};

/* The layers of one lookup. A zeroed one with a config has that and the defaults. */
struct layers {
	const struct config *config;
	const struct project *project;	/* NULL: none */
	struct values submit;
	char *profile;			/* NULL: not known yet */
	bool off;			/* review.enabled is false: a profile that is only
					 * named commits nothing */
};

/* Where a value comes from. */
struct origin {
	char *text;			/* "command line", "/etc/rld/rld.toml:7", "profile verdict",
					 * "default"; owned */
	const char *name;		/* how errors name it: the parameter, or text */
	const char *field;		/* the submit's parameter at fault, NULL: none */
	bool said;			/* it was written for runs: neither a
					 * profile's nor the default */
};

/* Take the overrides, check what they and the project name, and settle on a profile. layers_close()
 * in both cases. 0, or -1 with error. */
int layers_open(struct layers *layers, const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count, struct config_error *error);
void layers_close(struct layers *layers);

/* The value of path. New reference, NULL when it is unset. origin, when not NULL, is filled in. */
json_t *layers_get(const struct layers *layers, const char *path, struct origin *origin);

/* config_load() of a text; name stands for the file in messages. */
int config_parse(struct config **out, const char *name, const char *text, size_t size, struct config_error *error);

const struct values *config_values(const struct config *config);
/* 0, or -1 with error: value is the name of an agent or of a profile, or has the name of an agent,
 * which is none. Any other kind of setting is right. where: place or parameter. */
int config_check_name(const struct config *config, const struct setting *setting,
    const json_t *value, const char *field, const char *where, struct config_error *error);
/* The [profile.NAME] of that name says so; NULL: it is a built-in one, or none. */
const char *config_extends(const struct config *config, const char *profile);
/* The built-in profile that one of that name comes down to; NULL: there is none of that name. */
const struct profile *config_profile(const struct config *config, const char *name);
/* Names of all agents: presets, then of [agent.NAME]. NULL-terminated. */
char *const *config_agents(const struct config *config);
/* Names of all accounts that the file names. NULL-terminated. */
char *const *config_account_names(const struct config *config);
/* Names of all groups: "default", then of [group.NAME]. NULL-terminated. */
char *const *config_group_names(const struct config *config);

#endif
