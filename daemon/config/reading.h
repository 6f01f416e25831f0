/* SPDX-License-Identifier: MIT */
/* A TOML text becomes the values of one layer; the first mistake is told with its place. */
#ifndef CONFIG_READING_H
#define CONFIG_READING_H

#include "config/config.h"
#include "config/toml.h"
#include "config/values.h"

/* A key under another name. */
struct alias {
	const char *name, *path;
};

struct reading {
	const char *file;		/* its name in messages */
	const char *field;		/* of errors; NULL: none */
	enum setting_layer layer;	/* LAYER_FILE or LAYER_PROJECT */
	const struct alias *aliases;	/* ends with name NULL; NULL: none */
	const char *base;		/* directory that relative paths begin in;
					 * NULL: there are none */
	struct values values;
	struct values tables;		/* [agent.NAME], [profile.NAME] and [group.NAME], in the
					 * order of the file */
	struct config_error *error;
};

/* 0, or -1 with the error. reading_release() in both cases. */
int reading_take(struct reading *r, const char *text, size_t size);
void reading_release(struct reading *r);

/* Fill in error and return -1. field may be NULL. */
int config_refuse(struct config_error *error, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* With the place in the file; why is freed. "'review.max_fixes' must be ..." */
int reading_refuse(const struct reading *r, unsigned line, unsigned column, const char *path, char *why);

#endif
