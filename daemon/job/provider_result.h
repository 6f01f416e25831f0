/* SPDX-License-Identifier: MIT */
/* What a failed attempt tells about its service. */
#ifndef JOB_PROVIDER_RESULT_H
#define JOB_PROVIDER_RESULT_H

#include <stdint.h>

#include "agent/reader.h"
#include "core/plan.h"
#include "record/exit_record.h"

struct collect_job;

/* Complete what stdout alone does not tell about the service: result.provider, transient and
 * reset_at. */
void ending_judge(struct collect_job *job);
/* TZ from the agent's settings, malloc'd; NULL: as in the run's environment. */
char *ending_zone(const struct plan *plan, const struct agent_plan *agent);
/* The exit status if it may describe the service; ROW_NONE: it did not exit by itself, or the
 * status is about the work only. */
int64_t ending_code(const struct plan *plan, enum role role, enum reader_kind reader, const struct exit_record *record);

#endif
