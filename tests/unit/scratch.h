/* SPDX-License-Identifier: MIT */
/* A new directory for a test, below TMPDIR: where that is in memory, no test waits for a disk. */
#ifndef UNIT_SCRATCH_H
#define UNIT_SCRATCH_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* The caller removes it. */
static void scratch_make(char *path, size_t room, const char *name)
{
	const char *below = getenv("TMPDIR");

	ck_assert_int_lt(snprintf(path, room, "%s/%s-XXXXXX",
	    below != NULL && below[0] == '/' ? below : "/tmp", name), (int)room);
	ck_assert_ptr_nonnull(mkdtemp(path));
}

#endif
