/* SPDX-License-Identifier: MIT */
/* Files of attempts, compared with the hashes in their rows. */
#ifndef JOB_KEPT_FILES_H
#define JOB_KEPT_FILES_H

#include <stdint.h>

#include "base/digest.h"
#include "model/view.h"

/* Hashes what lies on the disk again: prompts, diffs, raw output, answers and review files.
 * Blocking. NULL: all of it is as recorded; or the first difference as a sentence, malloc'd. Rows
 * without such hashes, runs of earlier versions and pruned runs have nothing to compare. *files
 * (NULL: not wanted): number of files that were compared. */
char *kept_files_changed(const char *state_dir, const struct run_rows *rows, size_t *files);

/* SHA-256 of the first size bytes of a stream as kept, or of all of it. 0 or -errno. */
int kept_output_hash(int dirfd, const char *stream, uint64_t size, char hex[DIGEST_HEX]);

#endif
