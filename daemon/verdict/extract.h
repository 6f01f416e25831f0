/* SPDX-License-Identifier: MIT */
/* Finds the JSON object that carries a verdict in a reviewer's text: pure, bounded, linear in the length of the text. */
#ifndef VERDICT_EXTRACT_H
#define VERDICT_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define EXTRACT_WINDOW (256 * 1024)	/* bytes at the end of the text whose objects are read */
#define EXTRACT_OBJECTS 64		/* the last ones of them */
#define EXTRACT_DEPTH 64		/* objects and arrays inside each other, the outermost counts */

enum extract_result {
	EXTRACT_FOUND,
	EXTRACT_EMPTY,		/* nothing but white space */
	EXTRACT_NO_OBJECT,
	EXTRACT_BROKEN,		/* an object that is none, where one was meant; or JSON that is no object */
	EXTRACT_KEYLESS,	/* whole objects, none of them with the key */
	EXTRACT_RESULTS
};

struct extract {
	enum extract_result result;
	json_t *object;		/* EXTRACT_FOUND: the last one with the key, owned by the caller */
	bool conflict;		/* EXTRACT_FOUND: another one gives the key another value, or might: it was out of bounds */
};

/* A candidate is each { that is the first thing on its line or in a fence, to the } that balances it. When no candidate
 * has the key and none is broken, the object that ends the text counts, wherever on its line it starts. */
struct extract extract_find(const char *text, size_t size, const char *key);

/* What was got in place of what was expected: short JSON in ASCII, "nothing" for NULL. malloc'd. */
char *extract_got(const json_t *value);

#endif
