/* SPDX-License-Identifier: MIT */
/* The table of settings: every key of rld.toml and .rld.toml, every setting of a submit, and the
 * form of its values. */
#ifndef CONFIG_SETTING_H
#define CONFIG_SETTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/schema.h"

enum setting_layer {
	LAYER_FILE = 1,		/* a key of rld.toml */
	LAYER_SUBMIT = 2,	/* allowed in a submit, as struct config_override */
	LAYER_PROJECT = 4,	/* a key of a project's .rld.toml */
	LAYER_PROFILE = 8,	/* a key of [profile.NAME] in rld.toml: "profile.mine.max_fixes" is
				 * the row of "review.max_fixes" */
	LAYER_STRICTER = 16,	/* a project may only raise it */
	LAYER_LOWER = 32,	/* a project may only lower a value that is set already */
	LAYER_ADDS = 128,	/* a project's list is added to the one without it */
	LAYER_SAID = 64		/* with STRICTER: than what rld.toml says, not than a default */
};

struct setting {
	/* name: "review.agent"; "agent.*.model" is that of any agent */
	struct schema is;
	unsigned layers;
	const char *fallback;			/* JSON text; NULL: unset */
	/* offset of the cell of struct profile that supplies the default: an int64_t, or a const
	 * char * for texts; 0: none */
	size_t profile_field;
};

extern const struct setting settings[];
extern const size_t settings_count;

/* The part after the last dot. */
const char *setting_key(const char *path);

/* The row for a path: "agent.claude.model" gives "agent.*.model". *rest: what follows the path of a
 * SCHEMA_MAP ("K" of "agent.claude.set.K"), otherwise NULL. NULL: no such key. */
const struct setting *setting_find(const char *path, const char **rest);

/* The row for a key of a file of that layer, LAYER_FILE or LAYER_PROJECT; otherwise like
 * setting_find(). */
const struct setting *setting_of_file(const char *path, enum setting_layer layer, const char **rest);

/* Whether path is a table of such a file: "review", "agent", "agent.claude", "agent.claude.set",
 * "profile.mine". */
bool setting_is_table(const char *path, enum setting_layer layer);

/* The known key most similar to a mistyped one, spelled like path ("agent.claude.modle" ->
 * "agent.claude.model"). New string or NULL. */
char *setting_near(const char *path, enum setting_layer layer);

/* Why a value is invalid: "must be one of hold, retry, fail", a new string; NULL if it is valid.
 * Whether a named agent or profile exists is not checked. */
char *setting_refuse(const struct setting *setting, json_t *value);

/* A valid value as a number: bool, integer, milliseconds, bytes, index of the choice. */
int64_t setting_number(const struct setting *setting, const json_t *value);

/* The amount of a valid SCHEMA_MONEY. */
double setting_money(const json_t *value);

/* A setting's value as written in a file: 3600000 of a SCHEMA_DURATION is "1h". New reference. */
json_t *setting_json(const struct setting *setting, int64_t number);

#endif
