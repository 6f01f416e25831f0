/* SPDX-License-Identifier: MIT */
#include "rpc/record_check.h"

#include "core/entries.h"
#include "job/kept_files.h"
#include "job/recorded_refs.h"

void record_check(struct record_check *check)
{
	const struct run_rows *rows = check->rows;

	check->fault = run_rows_verify(rows);
	if (check->fault == NULL && check->entry != ROW_NONE) {
		check->fault = entries_attested(rows->entries, rows->nentries, check->entry, check->entry_hash);
		check->attested = check->fault == NULL;
	}
	check->chain = check->fault == NULL;
	if (check->chain)
		check->fault = kept_files_changed(check->state_dir, rows, &check->files);
	check->kept = check->fault == NULL;
	if (check->kept)
		check->fault = recorded_refs_moved(check->state_dir, rows);
}
