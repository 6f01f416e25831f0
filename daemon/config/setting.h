/* SPDX-License-Identifier: MIT */
/* The table of settings: every key of rld.toml and .rld.toml, every setting a submit may name, and
 * what a value must look like. */
#ifndef CONFIG_SETTING_H
#define CONFIG_SETTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/schema.h"

enum setting_layer {
	LAYER_FILE = 1,		/* a key of rld.toml */
	LAYER_SUBMIT = 2,	/* a submit may name it, as struct config_override */
	LAYER_PROJECT = 4,	/* a key of a project's .rld.toml */
	LAYER_PROFILE = 8,	/* a key of [profile.NAME] in rld.toml: "profile.mine.max_fixes" is
				 * the row of "review.max_fixes" */
	LAYER_STRICTER = 16,	/* what a project says counts only when it is more than without it;
				 * a lower number is refused */
	LAYER_LOWER = 32	/* the other way round: what is set already, a project may
				 * lower but not raise */
};

struct setting {
	struct schema is;			/* name: "review.agent"; "agent.*.model" stands for
						 * one of every agent */
	unsigned layers;
	const char *fallback;			/* JSON text; NULL: unset */
	size_t profile_field;			/* offset of the cell of struct profile that fills
						 * the unset value: an int64_t, or a const char *
						 * for texts; 0: none */
};

extern const struct setting settings[];
extern const size_t settings_count;

/* What stands behind the last dot. */
const char *setting_key(const char *path);

/* The row of "agent.claude.model" is that of "agent.*.model". *rest is what follows the path of a
 * SCHEMA_MAP ("K" of "agent.claude.set.K"), NULL otherwise. NULL: no such key. */
const struct setting *setting_find(const char *path, const char **rest);

/* The row of a key of a file of that layer, LAYER_FILE or LAYER_PROJECT; otherwise
 * as setting_find(). */
const struct setting *setting_of_file(const char *path, enum setting_layer layer, const char **rest);

/* True when path is a table of such a file: "review", "agent", "agent.claude",
 * "agent.claude.set", "profile.mine". */
bool setting_is_table(const char *path, enum setting_layer layer);

/* The known key that a mistyped one probably meant, in the spelling of path ("agent.claude.modle"
 * -> "agent.claude.model"). New string or NULL. */
char *setting_near(const char *path, enum setting_layer layer);

/* Why a value does not fit: "must be one of hold, retry, fail", a new string; NULL when it fits.
 * That an agent or a profile of that name exists is not looked at. */
char *setting_refuse(const struct setting *setting, json_t *value);

/* The value of a setting that fits: bool, integer, milliseconds, bytes, index of the choice. */
int64_t setting_number(const struct setting *setting, const json_t *value);

/* The amount of a SCHEMA_MONEY that fits. */
double setting_money(const json_t *value);

/* A setting's value in the form in which people write it: 3600000 of a SCHEMA_DURATION is
 * "1h". New reference. */
json_t *setting_json(const struct setting *setting, int64_t number);

#endif
