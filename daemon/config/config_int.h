/* SPDX-License-Identifier: MIT */
/* The struct of the current settings. config.c creates, frees and reads it; config_file.c fills it
 * from rld.toml; config_lookup.c reads effective values through the layers. */
#ifndef CONFIG_CONFIG_INT_H
#define CONFIG_CONFIG_INT_H

#include "config/config.h"
#include "config/values.h"

struct config {
	char *path;		/* NULL: no file */
	struct config_stamp stamp;
	struct values values;
	char **agents;		/* names of presets, then of other [agent.NAME] in file order */
	char **profiles;	/* likewise for profiles */
	char **groups;		/* "default", then those of the file */
	char **accounts;	/* those of the file */
	char **launchers;	/* "local", presets, those of the file */
	char **agent_env;	/* see config_agent_env() */
	struct resolved *resolved;
};

/* Only presets and built-in profiles. */
struct config *config_new(void);

/* config_lookup.c: names for config->agent_env. Free with strings_free(). */
char **config_collect_env(const struct config *config);

#endif
