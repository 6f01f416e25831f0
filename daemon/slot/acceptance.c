/* SPDX-License-Identifier: MIT */
#include "slot/acceptance.h"

#include <stdlib.h>
#include <string.h>

#include "core/dismissal.h"
#include "evidence/evidence.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "slot/review_rows.h"
#include "txn/txn.h"

/* Of the slot's last review. */
static const struct finding_row **acceptance_findings(const struct slot *slot, size_t *count)
{
	const struct review_row *last = review_last_verdict(slot);

	*count = 0;
	return last != NULL ? run_rows_findings(slot->run->rows, last->number, count) : NULL;
}

char *acceptance_users(const struct slot *slot)
{
	struct dismissals d = dismissals_read(slot->run->rows->run.dismissed);
	size_t count;
	const struct finding_row **findings = acceptance_findings(slot, &count);
	char *users = dismissals_users(&d, slot_task_id(slot), findings, count);

	dismissals_release(&d);
	return users;
}

char *acceptance_append(struct txn *txn, struct slot *slot)
{
	struct dismissals d = dismissals_read(slot->run->rows->run.dismissed);
	const struct dismissal *newest = NULL;
	size_t count;
	const struct finding_row **findings = acceptance_findings(slot, &count);
	char *users = acceptance_users(slot), *cause;
	struct buf why = { 0 };

	for (size_t i = 0; i < d.count; i++) {
		if (strcmp(d.list[i].task, slot_task_id(slot)) != 0 ||
		    !findings_have(findings, count, d.list[i].finding))
			continue;
		newest = &d.list[i];
		buf_addf(&why, "%s%s dismissed by %s: %s", why.size > 0 ? "\n" : "", newest->finding, newest->by,
		    newest->reason);
	}
	cause = xasprintf("accepted: findings dismissed by %s", users);
	review_human(txn, slot, REVIEW_ACCEPTED, newest->by, why.data,
	    &(struct judge_process){ newest->by_uid, newest->by_pid, ROW_NONE });
	buf_release(&why);
	free(users);
	dismissals_release(&d);
	return cause;
}
