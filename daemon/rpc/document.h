/* SPDX-License-Identifier: MIT */
/* Documents used by several methods. */
#ifndef RPC_DOCUMENT_H
#define RPC_DOCUMENT_H

#include <jansson.h>

#include "core/plan.h"
#include "job/run_overview.h"
#include "model/view.h"

/* An entry of a list. */
json_t *run_summary(const struct run_row *run, const struct run_overview *overview);

/* The whole document: needs tasks, slots, attempts and holds. plan: of an unfinished run, from the
 * engine; NULL: read from the row. now: ms since the epoch. */
json_t *run_document(const struct run_rows *rows, const struct plan *plan, int64_t now);

json_t *attempt_document(const struct attempt_row *row);

#endif
