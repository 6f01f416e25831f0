/* SPDX-License-Identifier: MIT */
#include "proc/launch.h"

#include <stdlib.h>

#include "proto/memory.h"

void launch_free(struct launch *launch)
{
	if (launch == NULL)
		return;
	shim_job_release(&launch->job);
	strings_wipe(launch->envp);
	for (size_t i = 0; i < launch->nfiles; i++)
		free(launch->files[i].data);
	free(launch);
}
