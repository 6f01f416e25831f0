/* SPDX-License-Identifier: MIT */
/* The carriers that are one JSON object in a text: a word that decides, and a text
 * that says why. */
#ifndef VERDICT_OBJECT_CARRIER_H
#define VERDICT_OBJECT_CARRIER_H

#include "verdict/verdict.h"

/* Names in the object. */
struct object_form {
	const char *key;		/* of the word */
	const char *pass, *findings;	/* the two words */
	const char *feedback;		/* key of the text */
	const char *checks;		/* key of an optional object of booleans; NULL: none */
};

void object_read(const struct object_form *form, const struct verdict_input *in, struct verdict *out);

#endif
