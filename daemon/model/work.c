/* SPDX-License-Identifier: MIT */
#include "model/work.h"

#include <stdlib.h>

#include "record/host_fault.h"

void work_run(struct work *work)
{
	host_noted();
	work->type->run(work);
	work->fault = host_noted();
}

void work_free(struct work *work)
{
	if (work == NULL)
		return;
	work->type->release(work);
	free(work);
}
