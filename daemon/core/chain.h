/* SPDX-License-Identifier: MIT */
/* The hash chains of a run: its review log, its products, its evidence, and its record. Pure.
 *
 * hash = SHA-256 over every field of the row but hash itself (previous_hash among them), for a
 * review then every field of each of its findings, each as its name and value, "<length>:<bytes>,"
 * both. A field that is NULL is left out, so that a later column leaves the hashes of older rows as
 * they are. The run row keeps the count and the newest hash, so a row that was changed, removed,
 * reordered or cut off at the end shows. */
#ifndef CORE_CHAIN_H
#define CORE_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/digest.h"
#include "core/row.h"

/* row->previous_hash must be set; findings in order of number. */
void review_hash(const struct review_row *row, const struct finding_row *const *findings,
    size_t count, char hex[DIGEST_HEX]);

/* Of a row of ROW_PRODUCT, ROW_EVIDENCE or ROW_ENTRY, whose previous_hash must be set; or of a row
 * that enters the record: ROW_RUN (without entry_count and entry_head), ROW_TASK (without its
 * text), ROW_ATTEMPT, ROW_HOLD; or of ROW_JUDGE, for the run's row. */
void record_hash(enum row_kind kind, const void *row, char hex[DIGEST_HEX]);

/* Whether what judges a run is what the run's row has the hash of. judge NULL: it is gone; hash
 * NULL: an earlier version has recorded none, and nothing is compared. */
bool judge_is_recorded(const struct judge_row *judge, const char *hash);

/* Check all rows of such a kind, in order of number; count and head from the run row, count
 * ROW_NONE: none. Returns NULL if they are intact, else a sentence that names the row at fault
 * (malloc'd). */
char *record_verify(enum row_kind kind, const void *const *rows, size_t nrows, int64_t count, const char *head);

/* Check a whole log: reviews in order of number, findings in order of review and number; head and
 * count from the run row. Returns NULL if it is intact, else a sentence that names the row at fault
 * (malloc'd). */
char *chain_verify(const struct review_row *const *reviews, size_t nreviews,
    const struct finding_row *const *findings, size_t nfindings, int64_t count, const char *head);

#endif
