/* SPDX-License-Identifier: MIT */
/* The struct of the settings in force. config.c makes, frees and reads it; config_file.c fills it
 * from rld.toml; config_lookup.c reads effective values through the layers. */
#ifndef CONFIG_CONFIG_INT_H
#define CONFIG_CONFIG_INT_H

#include "config/config.h"
#include "config/values.h"

struct config {
	char *path;		/* NULL: there was no file */
	struct config_stamp stamp;
	struct values values;
	char **agents;		/* names of presets, then of the other [agent.NAME] in
				 * order of the file */
	char **profiles;	/* the same of profiles */
	char **groups;		/* "default", then the others of the file */
	char **accounts;	/* those of the file */
	char **agent_env;	/* see config_agent_env() */
};

/* Presets and built-in profiles only. */
struct config *config_new(void);

/* config_lookup.c: names for config->agent_env, of the values that config has. strings_free(). */
char **config_collect_env(const struct config *config);

#endif
