/* SPDX-License-Identifier: MIT */
/* The single check of a JSON value against a table row, with a single wording of errors: for
 * settings (config/setting.c), parameters of methods (the tables of rpc) and options of rlctl
 * (client/command_options.c). */
#ifndef PROTO_SCHEMA_H
#define PROTO_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/state_names.h"

enum schema_kind {
	SCHEMA_ANY,		/* not checked here */
	SCHEMA_BOOL,
	SCHEMA_INT,		/* min..max */
	SCHEMA_MONEY,		/* a number: at least min hundredths, at most max */
	SCHEMA_DURATION,	/* seconds as an integer, or "15m"; min..max in milliseconds */
	SCHEMA_SIZE,		/* bytes as an integer, or "64M"; min..max in bytes */
	SCHEMA_TEXT,		/* min..max bytes, no NUL */
	SCHEMA_TEXT_OR_TRUE,	/* likewise, or true */
	SCHEMA_TEXT_OR_INT,	/* a text that fits the rule, or an integer: min..max */
	SCHEMA_CHOICE,		/* one of choices */
	SCHEMA_TEXTS,		/* array of min..max texts of at most bytes each */
	SCHEMA_ARGV,		/* array of at least min texts, the first one not empty */
	SCHEMA_IDS,		/* array of min..max integers from 1 up */
	SCHEMA_PAIRS,		/* array of "NAME=VALUE", or an object of texts; at
				 * most max of them */
	SCHEMA_MAP,		/* object of at most max texts of at most bytes each; rule applies
				 * to the names */
	SCHEMA_OBJECT,		/* with the given members; null means missing */
	SCHEMA_OBJECTS,		/* array of such objects */
	SCHEMA_KINDS
};

/* field: path within the value, "" for the value itself, "review.max_fixes" for a member. text:
 * "must be a string, is an integer". */
struct schema_error {
	const char *object;	/* in: name for an object; NULL: "an object" */
	const char *unknown;	/* in: message about an unknown member; NULL: "is unknown" */
	char field[128];
	char text[512];
};

/* Begins the help of a method, a parameter or a member that has another form now: "a deprecation
 * has two steps" in docs/protocol.md. */
#define SCHEMA_DEPRECATED(use) "deprecated: use " use "; "

/* What a text must be besides its length; for OBJECTS, their name (fits is NULL). */
struct schema_rule {
	const char *what;	/* "the name of an agent" */
	const char *list;	/* "names of agents" */
	/* returns false with the reason in error->text */
	bool (*fits)(const char *text, struct schema_error *error);
};

struct schema {
	const char *name;
	enum schema_kind kind;
	bool required;			/* as a member of an object, or a parameter */
	bool clamp;			/* INT: values above max count as max; see schema_clamp() */
	int64_t min, max;		/* max 0 for texts, lists and maps: no limit */
	int64_t bytes;			/* TEXTS, MAP: for each; 0: no limit */
	const struct state_names *choices;	/* also TEXT, and each of TEXTS; NULL: any */
	const struct schema_rule *rule;	/* TEXT, TEXTS, MAP; NULL: none */
	const struct schema *members;	/* ends with name NULL */
	const char *path;		/* ANY: path of the setting that describes the value */
	const char *help;
};

/* Returns false with error if value is invalid. Null members of an OBJECT are removed, clamped ones
 * changed. */
bool schema_check(const struct schema *schema, json_t *value, struct schema_error *error);

/* Likewise for the members of an object; others are errors. */
bool schema_check_members(const struct schema *members, json_t *object, struct schema_error *error);

/* A command line word as a valid value: INT, MONEY, or a text type. New reference, NULL with
 * error. */
json_t *schema_read(const struct schema *schema, const char *word, struct schema_error *error);

/* For rules: fill in text and return false. */
bool schema_refuse(struct schema_error *error, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The number of a DURATION (milliseconds) or SIZE (bytes). 0, -EINVAL for another value, -ERANGE if
 * it is too large. */
int schema_number(const struct schema *schema, const json_t *value, int64_t *number);

#endif
