/* SPDX-License-Identifier: MIT */
/* Numbers of runs and attempts go on behind the highest directory, whatever the
 * database has forgotten. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

struct numbers {
	int64_t run, attempt;	/* the highest ever used */
};

/* Raise what the database knows to what runs/ and attempts/ of the state directory have. What the
 * database does not know as a sentence, malloc'd; NULL: nothing. Reads both directories once and
 * opens nothing in them. */
char *numbers_raise(const char *state_dir, struct numbers *numbers);

#endif
