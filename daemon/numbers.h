/* SPDX-License-Identifier: MIT */
/* Numbers of runs and attempts continue after the highest directory, whatever the database
 * contains. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

struct numbers {
	int64_t run, attempt;	/* highest number in use */
};

/* Raise the database's numbers to those in runs/ and attempts/ of the state directory. Returns a
 * sentence about directories unknown to the database, malloc'd; NULL: none. Reads both directories
 * once and opens nothing in them. */
char *numbers_raise(const char *state_dir, struct numbers *numbers);

#endif
