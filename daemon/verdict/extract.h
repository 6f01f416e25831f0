/* SPDX-License-Identifier: MIT */
/* Finds the JSON object with the verdict in a reviewer's text: pure, bounded, linear in the length
 * of the text. */
#ifndef VERDICT_EXTRACT_H
#define VERDICT_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define EXTRACT_WINDOW (256 * 1024)	/* size of the end of the text whose objects are read */
#define EXTRACT_OBJECTS 64		/* maximum number of objects, counted from the end */
/* nesting depth of objects and arrays, including the outermost */
#define EXTRACT_DEPTH 64

enum extract_result {
	EXTRACT_FOUND,
	EXTRACT_EMPTY,		/* only white space */
	EXTRACT_NO_OBJECT,
	/* an invalid object where one was meant; or JSON other than an object */
	EXTRACT_BROKEN,
	EXTRACT_KEYLESS,	/* complete objects, none with the key */
	EXTRACT_ECHO,		/* ... with the key, only copies */
	EXTRACT_RESULTS
};

struct extract {
	enum extract_result result;
	json_t *object;		/* EXTRACT_FOUND: the last one with the key, owned by the caller */
	/* EXTRACT_FOUND: another one has a different value for the key, or may have, because it was
	 * beyond the limits */
	bool conflict;
	bool foreign;		/* an object with the key was written for another review */
};

/* Whose an object with the key is. */
enum extract_origin {
	EXTRACT_PLAIN,		/* unknown: the reviewer's, as far as can be seen */
	EXTRACT_OWN,		/* the reviewer's */
	EXTRACT_COPY,		/* it stands in what the reviewer was given */
	EXTRACT_FOREIGN		/* written for another review */
};

struct extract_judge {
	enum extract_origin (*origin)(const void *arg, const json_t *object);
	const void *arg;
};

/* A candidate is each { that is the first thing on its line or in a fence, to the } that balances
 * it. When no candidate has the key and none is broken, the object that ends the text counts,
 * wherever on its line it starts.
 *
 * "A broken candidate after it, or with none before it, is a violation" is read as: each broken
 * candidate is one, unless it stands between two whole objects with the key, which then have to
 * agree. So one before the first verdict counts as well, be it only C code with a brace at the
 * start of its line: it may have been a verdict of the other kind, cut or misspelt, and then the
 * whole one behind it may be its inside or a quotation. This cannot be decided, so it is no
 * pass. The price is paid by reviewers that quote such code in front of their verdict, which is
 * why the response contract in the prompt forbids it. Behind a broken one nothing is looked for
 * inside it.
 *
 * judge NULL: each object is plain. A copy never counts, and may contradict only a plain one. One
 * that is the reviewer's is preferred to plain ones, with which it must agree. */
struct extract extract_find(const char *text, size_t size, const char *key, const struct extract_judge *judge);

/* The value found in place of the expected one: short JSON in ASCII, "nothing" for NULL.
 * malloc'd. */
char *extract_got(const json_t *value);
/* "missing or invalid KEY: expected string, got 7". malloc'd. */
char *extract_invalid(const char *key, const char *expected, const json_t *got);

#endif
