/* SPDX-License-Identifier: MIT */
#include "run/run_refusal.h"

#include "core/row.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/view.h"
#include "proto/error.h"

int run_refuse(const struct engine *engine, const struct run *run, struct engine_reply *reply)
{
	if (run == NULL || reply->rows == NULL) {
		reply->message = "no such unfinished run";
		reply->hint = "rlctl list shows the runs";
		return RPC_NOT_FOUND;
	}
	if (engine->full) {
		reply->message = "no space left for the database";
		reply->hint = "make room on the disk of the state directory";
		return RPC_NO_SPACE;
	}
	return RPC_OK;
}

int run_refuse_ending(const struct engine *engine, const struct run *run, const char *hint, struct engine_reply *reply)
{
	int code = run_refuse(engine, run, reply);

	if (code == RPC_NOT_FOUND || (!run_cancelling(run) && !run_state_is_end((enum run_state)run->rows->run.state)))
		return code;
	reply->message = "the run is ending";
	reply->hint = hint;
	return RPC_WRONG_STATE;
}
