/* SPDX-License-Identifier: MIT */
#include "record/exit_record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "record/fields.h"
#include "record/layout.h"

#define RESERVED 4096	/* one block: more than any exit record */

static const char *const how_names[] = {
	[EXIT_BY_CODE] = "code", [EXIT_BY_SIGNAL] = "signal", [EXIT_NOT_STARTED] = "not-started",
};
static const char *const by_names[] = {
	[EXIT_OWN] = "own", [EXIT_WALL] = "wall", [EXIT_IDLE] = "idle", [EXIT_TERM] = "term",
	[EXIT_RESULT] = "result",
};

static const char *const step_names[EXIT_STEPS] = {
	[EXIT_STEP_MEMORY] = "memory", [EXIT_STEP_INPUT] = "input", [EXIT_STEP_PIPE] = "pipe",
	[EXIT_STEP_FORK] = "fork", [EXIT_STEP_DUP2] = "dup2", [EXIT_STEP_CHDIR] = "chdir",
	[EXIT_STEP_SANDBOX] = "sandbox", [EXIT_STEP_IDS] = "user", [EXIT_STEP_EXEC] = "exec",
};

static const char *const far_names[EXIT_FARS] = {
	[EXIT_FAR_ENDED] = "ended", [EXIT_FAR_NOT_STARTED] = "not-started", [EXIT_FAR_UNKNOWN] = "unknown",
};
static const char *const cancel_names[EXIT_CANCELS] = {
	[EXIT_CANCEL_DONE] = "done", [EXIT_CANCEL_FAILED] = "failed", [EXIT_CANCEL_UNSEEN] = "unseen",
};

const char *exit_step_name(enum exit_step step)
{
	return step_names[step];
}

#define ROW(name, kind) { #name, kind, offsetof(struct exit_record, name), 0, NULL }
#define NAMES(name, list) \
	{ #name, FIELDS_NAME, offsetof(struct exit_record, name), sizeof(list) / sizeof((list)[0]), list }

static const struct fields_row exit_rows[] = {
	NAMES(how, how_names),
	ROW(status, FIELDS_INT),
	NAMES(by, by_names),
	ROW(sender_pid, FIELDS_INT64),
	ROW(sender_uid, FIELDS_INT64),
	ROW(started_ms, FIELDS_INT64),
	ROW(ended_ms, FIELDS_INT64),
	ROW(stdout_bytes, FIELDS_INT64),
	ROW(stderr_bytes, FIELDS_INT64),
	ROW(dropped, FIELDS_INT64),
	ROW(tree_empty, FIELDS_BOOL),
	{ "error", FIELDS_CHARS, offsetof(struct exit_record, error), sizeof(((struct exit_record *)0)->error), NULL },
	ROW(sandbox, FIELDS_OPTION),	/* from here on: unknown to older shims */
	ROW(signalled_ms, FIELDS_OPTION64),	/* written only if the job asks for it */
	ROW(stdout_signalled, FIELDS_OPTION64),
	ROW(stderr_signalled, FIELDS_OPTION64),
	/* the same */
	{ "step", FIELDS_OPTION_NAME, offsetof(struct exit_record, step), EXIT_STEPS, step_names },
	ROW(memory_kills, FIELDS_OPTION64),	/* the same */
	ROW(memory_max, FIELDS_OPTION64),
	ROW(refused_forks, FIELDS_OPTION64),
	/* written only if the job has a launcher */
	{ "far", FIELDS_OPTION_NAME, offsetof(struct exit_record, far), EXIT_FARS, far_names },
	{ "cancelled", FIELDS_OPTION_NAME, offsetof(struct exit_record, cancelled), EXIT_CANCELS, cancel_names },
};

static const struct fields_type exit_type = {
	.kind = "exit",
	.version = 1,
	.rows = exit_rows,
	.count = sizeof(exit_rows) / sizeof(exit_rows[0]),
	.object_size = sizeof(struct exit_record),
	.file_max = RESERVED,
};

/* Reject what no shim writes. */
static bool plausible(const struct exit_record *r)
{
	bool signalled = r->signalled_ms > 0;

	if (r->sandbox < 0 || r->signalled_ms < 0 || r->stdout_signalled > (signalled ? r->stdout_bytes : 0) ||
	    r->stderr_signalled > (signalled ? r->stderr_bytes : 0) ||
	    (r->step != EXIT_STEP_NONE && r->how != EXIT_NOT_STARTED) || r->memory_kills < 0 || r->memory_max < 0 ||
	    (r->memory_max > 0 && r->memory_kills == 0) || r->refused_forks < 0 ||
	    (r->far == EXIT_FAR_NOT_STARTED && r->how != EXIT_NOT_STARTED))
		return false;
	switch (r->how) {
	case EXIT_BY_CODE:
		return r->status >= 0 && r->status <= 255;
	case EXIT_BY_SIGNAL:
		return r->status >= 1 && r->status <= 127;
	case EXIT_NOT_STARTED:
		return r->status > 0;
	}
	return false;
}

int exit_record_reserve(int dirfd)
{
	int fd = openat(dirfd, RECORD_EXIT ".tmp", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rv;

	if (fd == -1)
		return -errno;
	do
		rv = -posix_fallocate(fd, 0, RESERVED);
	while (rv == -EINTR);
	close(fd);
	return rv;
}

int exit_record_write(int dirfd, const struct exit_record *record, bool durable)
{
	return fields_write(dirfd, RECORD_EXIT, &exit_type, record, durable);
}

/* A record written without names_step has the step only in its sentence. Remove this function with
 * version 1 of the job file: until then a shim may still run a job that does not ask for it. */
static void name_old_step(struct exit_record *record)
{
	static const char exec[] = "exec ";

	if (record->how == EXIT_NOT_STARTED && record->step == EXIT_STEP_NONE &&
	    strncmp(record->error, exec, strlen(exec)) == 0)
		record->step = EXIT_STEP_EXEC;
}

int exit_record_read(int dirfd, struct exit_record *record)
{
	int rv = fields_read(dirfd, RECORD_EXIT, &exit_type, record);

	if (rv != 0)
		return rv;
	if (!plausible(record))
		return -EBADMSG;
	name_old_step(record);
	return 0;
}
