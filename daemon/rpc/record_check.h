/* SPDX-License-Identifier: MIT */
/* Compare the record of a run with its rows, its files and its refs. */
#ifndef RPC_RECORD_CHECK_H
#define RPC_RECORD_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/view.h"

struct record_check {
	const struct run_rows *rows;	/* what LOAD_CHAINS reads, at least */
	const char *state_dir;
	int64_t entry;			/* number of an attested entry, ROW_NONE: none */
	const char *entry_hash;		/* its attested hash */
	/* results */
	char *fault;			/* the first difference, malloc'd; NULL: none */
	size_t files;			/* number of files that were hashed */
	bool attested;			/* the record has that entry, with that hash */
	bool chain;			/* ... and the rows are intact */
	bool kept;			/* ... and the files are as recorded */
};

/* Blocks on the disk: for a worker. */
void record_check(struct record_check *check);

#endif
