/* SPDX-License-Identifier: MIT */
/* Carriers that are a JSON object in a text: a word that decides, and a text with the reason. */
#ifndef VERDICT_OBJECT_CARRIER_H
#define VERDICT_OBJECT_CARRIER_H

#include "verdict/verdict.h"

/* Member names. */
struct object_form {
	const char *key;		/* of the word */
	const char *pass, *findings;	/* the two words */
	const char *feedback;		/* key of the text */
	const char *checks;		/* key of an optional object of booleans; NULL: none */
};

void object_read(const struct object_form *form, const struct verdict_input *in, struct verdict *out);

#endif
