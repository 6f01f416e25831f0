/* SPDX-License-Identifier: MIT */
/* Reads a TOML text into the values of one layer; reports the first mistake with its place. */
#ifndef CONFIG_READING_H
#define CONFIG_READING_H

#include "config/config.h"
#include "config/toml.h"
#include "config/values.h"

/* Another name of a key. */
struct alias {
	const char *name, *path;
};

struct reading {
	const char *file;		/* its name in messages */
	const char *field;		/* of errors; NULL: none */
	enum setting_layer layer;	/* LAYER_FILE or LAYER_PROJECT */
	const struct alias *aliases;	/* ends with name NULL; NULL: none */
	const char *base;		/* directory for relative paths; NULL: none allowed */
	struct values values;
	/* [agent.NAME], [profile.NAME], [group.NAME] and [account.NAME], in file order */
	struct values tables;
	struct config_error *error;
};

/* Returns 0, or -1 with the error. Call reading_release() in any case. */
int reading_take(struct reading *r, const char *text, size_t size);
void reading_release(struct reading *r);

/* Fill in error and return -1. field may be NULL. */
int config_refuse(struct config_error *error, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* With the place in the file; frees why. "'review.max_fixes' must be ..." */
int reading_refuse(const struct reading *r, unsigned line, unsigned column, const char *path, char *why);

#endif
