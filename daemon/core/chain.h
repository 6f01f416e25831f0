/* SPDX-License-Identifier: MIT */
/* The hash chain of a run's review log. Pure.
 *
 * hash = SHA-256 over every field of the review row but hash itself (previous_hash among them),
 * then every field of each of its findings, each as its name and value, "<length>:<bytes>," both. A
 * field that is NULL is left out, so that a later column leaves the hashes of older rows as they
 * are. The run row keeps the count and the newest hash, so a row that was changed, removed,
 * reordered or cut off at the end shows. */
#ifndef CORE_CHAIN_H
#define CORE_CHAIN_H

#include <stddef.h>

#include "base/digest.h"
#include "core/row.h"

/* row->previous_hash must be set; findings in order of number. */
void review_hash(const struct review_row *row, const struct finding_row *const *findings,
    size_t count, char hex[DIGEST_HEX]);

/* Check a whole log: reviews in order of number, findings in order of review and number; head and
 * count from the run row. Returns NULL if it is intact, else a sentence that names the row at fault
 * (malloc'd). */
char *chain_verify(const struct review_row *const *reviews, size_t nreviews,
    const struct finding_row *const *findings, size_t nfindings, int64_t count, const char *head);

#endif
