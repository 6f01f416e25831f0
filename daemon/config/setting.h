/* SPDX-License-Identifier: MIT */
/* The table of settings: every key of rld.toml and .rld.toml, every setting a submit may name, and what a value must look like. */
#ifndef CONFIG_SETTING_H
#define CONFIG_SETTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/state.h"

enum setting_kind {
	SETTING_BOOL,
	SETTING_INT,		/* min..max */
	SETTING_DURATION,	/* seconds as an integer, or "15m"; min..max in milliseconds */
	SETTING_SIZE,		/* bytes as an integer, or "64M"; min..max in bytes */
	SETTING_MONEY,		/* an amount: a number, at least min hundredths, at most max */
	SETTING_TEXT,		/* at most max bytes; "" says: none */
	SETTING_REVISION,	/* what git is given as the name of a commit, at most max bytes; "" says: none */
	SETTING_CHOICE,		/* one of choices */
	SETTING_PROFILE,	/* name of a review profile */
	SETTING_AGENT,		/* name of a preset or of an [agent.NAME] */
	SETTING_AGENTS,		/* array of such names */
	SETTING_ACCOUNT,	/* name of a provider account, with or without an [account.NAME] */
	SETTING_FILE,		/* absolute path */
	SETTING_FILE_OR_NONE,	/* absolute path or "none" */
	SETTING_DIRECTORY,	/* absolute path, or one below the workdir; "" says: none */
	SETTING_FILE_NAME,	/* plain name of a file in the workdir */
	SETTING_PROGRAM,	/* absolute path, or a name without "/" to be found on PATH */
	SETTING_ARGV,		/* array of at least min strings, the first one not empty */
	SETTING_TEXTS,		/* array of strings of 1 to max bytes */
	SETTING_LINES,		/* the same, and each is one line */
	SETTING_FILES,		/* array of paths below the workdir */
	SETTING_PATHS,		/* array of absolute paths and such that begin with "~/" */
	SETTING_SECTIONS,	/* array of { file, section }: a path below the workdir, a heading of it */
	SETTING_NAMES,		/* array of names of environment variables */
	SETTING_MAP,		/* object: names of environment variables -> strings */
	SETTING_KINDS
};

enum setting_layer {
	LAYER_FILE = 1,		/* a key of rld.toml */
	LAYER_SUBMIT = 2,	/* a submit may name it, as struct config_override */
	LAYER_PROJECT = 4,	/* a key of a project's .rld.toml */
	LAYER_PROFILE = 8,	/* a key of [profile.NAME] in rld.toml: "profile.mine.max_fixes" is the row of "review.max_fixes" */
	LAYER_STRICTER = 16,	/* what a project says counts only when it is more than without it; a lower number is refused */
	LAYER_LOWER = 32	/* the other way round: what is set already, a project may lower but not raise */
};

struct setting {
	const char *path;			/* "review.agent"; "agent.*.model" stands for one of every agent */
	enum setting_kind kind;
	unsigned layers;
	int64_t min, max;
	const struct state_names *choices;	/* SETTING_CHOICE only */
	const char *fallback;			/* JSON text; NULL: unset */
	size_t profile_field;			/* offset of the cell of struct profile that fills the unset value: an int64_t, or a
						 * const char * for texts; 0: none */
	const char *help;
};

extern const struct setting settings[];
extern const size_t settings_count;

/* What stands behind the last dot. */
const char *setting_key(const char *path);

/* The row of "agent.claude.model" is that of "agent.*.model". *rest is what follows the path of a SETTING_MAP ("K" of
 * "agent.claude.set.K"), NULL otherwise. NULL: no such key. */
const struct setting *setting_find(const char *path, const char **rest);

/* The row of a key of a file of that layer, LAYER_FILE or LAYER_PROJECT; otherwise as setting_find(). */
const struct setting *setting_of_file(const char *path, enum setting_layer layer, const char **rest);

/* True when path is a table of such a file: "review", "agent", "agent.claude", "agent.claude.set", "profile.mine". */
bool setting_is_table(const char *path, enum setting_layer layer);

/* The known key that a mistyped one probably meant, in the spelling of path ("agent.claude.modle" -> "agent.claude.model").
 * New string or NULL. */
char *setting_near(const char *path, enum setting_layer layer);

/* Why a value does not fit: "must be one of hold, retry, fail", a new string; NULL when it fits. That an agent or a profile
 * of that name exists is not looked at. */
char *setting_refuse(const struct setting *setting, const json_t *value);

/* The value of a setting that fits: bool, integer, milliseconds, bytes, index of the choice. */
int64_t setting_number(const struct setting *setting, const json_t *value);

/* The amount of a SETTING_MONEY that fits. */
double setting_money(const json_t *value);

/* A setting's value in the form in which people write it: 3600000 of a SETTING_DURATION is "1h". New reference. */
json_t *setting_json(const struct setting *setting, int64_t number);

/* "[A-Za-z0-9][A-Za-z0-9_-]*", at most 64: what [agent.NAME], [profile.NAME], [group.NAME] and [account.NAME] may be called. */
bool setting_table_name(const char *name);

#endif
