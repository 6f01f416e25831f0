/* SPDX-License-Identifier: MIT */
#include "rpc/prune_types.h"

#include <stddef.h>

#define END { NULL, NULL, NULL }

const struct result_field pruned_fields[] = {
	RESULT_ROW("pruned"),
	{ "at", "time", "when" },
	END
};

#define PRUNED \
	{ "run", "integer", "its id" }, \
	{ "state", "RunState", "of the run" }, \
	{ "ended_at", "time|null", "time of its end; null: it has not ended" }, \
	{ "bytes", "integer|null", "what is, or was, kept of it; null: not measured" }, \
	{ "why", "RetentionLimit", "the limit that it is beyond" }

const struct result_field pruned_run_fields[] = { PRUNED, END };

const struct result_field kept_run_fields[] = {
	PRUNED,
	{ "need", "RetentionNeed", "why it stays, for programs" },
	{ "reason", "string", "the same as a sentence" },
	{ "remedy", "string|null", "what lets it go; null: only time, or the run that needs it" },
	END
};

const struct result_field kept_total_fields[] = {
	{ "runs", "integer", "number of ended runs of which something is kept" },
	{ "bytes", "integer", "that they use on the disk" },
	END
};
