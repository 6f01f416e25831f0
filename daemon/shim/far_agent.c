/* SPDX-License-Identifier: MIT */
#include "shim/far_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child/process_tree.h"
#include "record/far_claim.h"
#include "record/far_status.h"
#include "record/layout.h"
#include "record/output.h"
#include "shim/agent_process.h"

#define CANCEL_MS 60000		/* all tries together */
#define CANCEL_PAUSE_MS 1000	/* between two */
#define REVOKED_MS 5000		/* the only try, if nothing was started */
#define LOOK_MS 20

static int64_t steady_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Discard what is in a pipe. */
static void discard(struct pollfd *pipe)
{
	char chunk[4096];
	ssize_t n = -1;

	while (pipe->fd != -1 && (n = read(pipe->fd, chunk, sizeof(chunk))) > 0)
		;
	if (pipe->fd != -1 && (n == 0 || errno != EAGAIN)) {
		close(pipe->fd);
		pipe->fd = -1;
	}
}

/* Wait for the command until then, and end what is left of it. Returns whether it succeeded. */
static bool await(const struct agent *agent, int64_t until)
{
	struct pollfd pipes[] = { { .fd = agent->out, .events = POLLIN }, { .fd = agent->err, .events = POLLIN } };
	struct tree tree = { .main = agent->pid };
	bool late = false;

	for (tree_reap(&tree); !tree.empty && !(late && tree.main_gone); tree_reap(&tree)) {
		late = late || steady_ms() >= until;
		if (late || tree.main_gone)
			tree_kill(&tree);
		poll(pipes, 2, LOOK_MS);
		for (int i = 0; i < 2; i++)
			discard(&pipes[i]);
	}
	for (int i = 0; i < 2; i++)
		if (pipes[i].fd != -1)
			close(pipes[i].fd);
	return !late && WIFEXITED(tree.main_status) && WEXITSTATUS(tree.main_status) == 0;
}

static bool cancel_start(const struct shim_job *job, int dirfd, struct agent *agent)
{
	char root[] = "/";	/* the work tree may be gone */
	struct shim_job cancel = { .argv = job->cancel, .cwd = root, .umask = job->umask, .nofile = job->nofile };
	struct agent_report report;

	if (agent_start(&cancel, dirfd, agent, &report) == -1)
		return false;
	close(agent->report);
	return true;
}

static bool cancel_once(const struct shim_job *job, int dirfd, int64_t until)
{
	struct agent agent;

	return cancel_start(job, dirfd, &agent) && await(&agent, until);
}

/* Its pipes stay open: to write to them must not end it. */
int far_agent_cancel(const struct shim_job *job, int dirfd)
{
	struct agent agent;

	return job->cancel != NULL && cancel_start(job, dirfd, &agent) ? pidfd_open(agent.pid, 0) : -1;
}

/* The service that placed the agent may not answer for a moment. What nothing can start any more
 * is only to be taken out of its queue. */
static enum exit_cancel run_cancel(const struct shim_job *job, int dirfd)
{
	int64_t until = steady_ms() + CANCEL_MS;

	if (far_revoke(dirfd)) {
		if (job->cancel != NULL)
			cancel_once(job, dirfd, steady_ms() + REVOKED_MS);
		return EXIT_CANCEL_DONE;
	}
	if (job->cancel == NULL)
		return EXIT_CANCEL_NONE;
	while (!cancel_once(job, dirfd, until)) {
		if (steady_ms() + CANCEL_PAUSE_MS >= until)
			return EXIT_CANCEL_FAILED;
		poll(NULL, 0, CANCEL_PAUSE_MS);
	}
	return EXIT_CANCEL_DONE;
}

/* Output of the launcher may be cut off where its own status differs. */
static bool is_confirmed(const struct exit_record *record, const struct far_status *far)
{
	return record->by == EXIT_OWN && record->how == EXIT_BY_CODE && far->found == FAR_ENDED &&
	    record->status == far->status;
}

/* "on node n1: its launcher srun ended with status 0, but ..." */
static void say(const struct shim_job *job, struct exit_record *record, const struct far_status *far, const char *but)
{
	snprintf(record->error, sizeof(record->error), "%s%.64s%sits launcher %.64s ended %s %d, %s",
	    far->node[0] != '\0' ? "on node " : "", far->node, far->node[0] != '\0' ? ": " : "", job->argv[0],
	    record->how == EXIT_BY_SIGNAL ? "by signal" : "with status", record->status, but);
}

/* but: "and ..." or "but ..." */
static const char *unknown_words(const struct exit_record *record, const struct far_status *far)
{
	if (record->cancelled == EXIT_CANCEL_FAILED)
		return "and the cancel command failed: it may still run there";
	if (record->by != EXIT_OWN)
		return "told to end, but nothing says that the agent has ended";
	switch (far->found) {
	case FAR_EMPTY:
		return "and nothing says whether the agent was started";
	case FAR_STARTED:
		return "but nothing says how the agent ended";
	case FAR_SIGNALLED:
		return "and its agent was told to end there, not by rld";
	case FAR_ENDED:
		return "but its agent with another one: the end of its output may be missing";
	case FAR_DAMAGED:
		break;
	}
	return "and the status file of the agent is damaged";
}

/* Nobody was here to keep the limit of time; the rl-shim there has one that is a minute longer. */
static bool kept_limit(const struct shim_job *job, int dirfd)
{
	int place = job->follows != NULL ? openat(dirfd, RECORD_PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct exit_record record;
	bool kept = place != -1 && exit_record_read(place, &record) == 0 && record.by == EXIT_WALL;

	if (place != -1)
		close(place);
	return kept;
}

void far_agent_settle(const struct shim_job *job, int dirfd, struct exit_record *record)
{
	struct far_status far;

	if (job->far == NULL || record->how == EXIT_NOT_STARTED)
		return;
	far_status_read(dirfd, job->far, job->uuid, &far);
	if (is_confirmed(record, &far)) {
		record->far = EXIT_FAR_ENDED;
		return;
	}
	if (record->by == EXIT_OWN && far.found == FAR_SIGNALLED && kept_limit(job, dirfd))
		record->by = EXIT_WALL;
	record->cancelled = run_cancel(job, dirfd);
	/* it may have started or ended until then */
	far_status_read(dirfd, job->far, job->uuid, &far);
	if (record->cancelled == EXIT_CANCEL_DONE && !far_status_is_over(&far))
		record->cancelled = EXIT_CANCEL_UNSEEN;
	if (record->by == EXIT_OWN && far.found == FAR_EMPTY && record->cancelled == EXIT_CANCEL_DONE) {
		say(job, record, &far, "before it started the agent");
		record->far = EXIT_FAR_NOT_STARTED;
		record->how = EXIT_NOT_STARTED;
		record->status = ECHILD;
	} else if (record->by == EXIT_OWN || record->cancelled == EXIT_CANCEL_FAILED ||
	    (record->cancelled == EXIT_CANCEL_UNSEEN && record->by != EXIT_RESULT)) {
		/* one that has given its result has done its work */
		say(job, record, &far, unknown_words(record, &far));
		record->far = EXIT_FAR_UNKNOWN;
	}
}

void far_agent_remove_output(const struct shim_job *job, int dirfd, const struct exit_record *record)
{
	int place;

	if (job->follows == NULL || record->far != EXIT_FAR_ENDED || output_vouched(dirfd, job->output_bytes) != 0)
		return;
	place = openat(dirfd, RECORD_PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (place == -1)
		return;
	output_remove(place, RECORD_STDOUT);
	output_remove(place, RECORD_STDERR);
	close(place);
}
