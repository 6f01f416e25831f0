/* SPDX-License-Identifier: MIT */
#include "job/read_pick.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/dirs.h"
#include "model/job.h"
#include "proto/memory.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"
#include "task/pick.h"

#define ROOM (256 * 1024)

/* Read what is new in a stream. */
static void read_pick_scan(struct pick_job *job, int stream, const char *name, int dirfd, char *buffer)
{
	uint64_t end = job->unasked[stream];
	struct output_chunk chunk;
	bool picked = false;
	int rv = 0;

	if (job->pick[stream] == NULL)
		job->pick[stream] = pick_new(job->ids);
	while (!picked && job->offset[stream] < end && (rv = output_read(dirfd, name,
	    job->offset[stream], buffer, ROOM, &chunk)) == 0 && chunk.size > 0 && chunk.offset < end) {
		picked = pick_feed(job->pick[stream], buffer,
		    end - chunk.offset < chunk.size ? (size_t)(end - chunk.offset) : chunk.size);
		job->offset[stream] = chunk.offset + chunk.size;
	}
	/* temporarily unreadable: try again later */
	if (rv != 0 && host_fault(-rv))
		host_words(-rv);
	else if (!picked && job->last)
		picked = pick_end(job->pick[stream]);
	if (picked && job->picked == NULL)
		job->picked = xstrdup(pick_id(job->pick[stream]));
}

static void read_pick_run(struct job *base)
{
	struct pick_job *job = (struct pick_job *)base;
	char *dir = dirs_attempt(job->job.state_dir, job->attempt), *buffer = xcalloc(ROOM, 1);
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dirfd == -1)
		host_words(errno);
	if (dirfd != -1) {
		read_pick_scan(job, 0, RECORD_STDOUT, dirfd, buffer);
		read_pick_scan(job, 1, RECORD_STDERR, dirfd, buffer);
		close(dirfd);
	}
	free(buffer);
	free(dir);
}

static void read_pick_release(struct job *base)
{
	struct pick_job *w = (struct pick_job *)base;

	strings_free(w->ids);
	pick_free(w->pick[0]);
	pick_free(w->pick[1]);
	free(w->picked);
}

const struct job_type read_pick_type = { "read_pick", read_pick_run, read_pick_release };
