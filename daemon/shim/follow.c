/* SPDX-License-Identifier: MIT */
/*
 *   FIRST ── another near rl-shim had the agent before ──▶ FOLLOWING, without a launcher
 *   FIRST ── the launcher ends, no rl-shim has the claim ──▶ exit as it did
 *   FIRST ── it ends, an rl-shim has it ──▶ FOLLOWING
 *   FOLLOWING ── from time to time: the launcher again, which says how the agent is
 *   FOLLOWING ── the status file: ended ──▶ copy the last output, exit as the agent did
 *       unless output is missing for long: then with another status
 *   FOLLOWING ── rl-shim says that the agent is gone ──▶ copy the last output, exit with that
 *   FOLLOWING ── SIGTERM ──▶ copy the last output, exit as the agent did, or by that signal
 */
#include "shim/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/exit_record.h"
#include "record/far_claim.h"
#include "record/far_status.h"
#include "record/layout.h"
#include "record/output.h"
#include "shim/far_shim.h"

#define LOOK_MS 200		/* at files of a directory, perhaps of a server */
/* between two connections, each of which learns that the agent is alive: doubled up to a limit */
#define AGAIN_MS 5000
#define AGAIN_MAX_MS 30000
#define NEXT_MS 500		/* after one that has waited for news itself */
/* for output of an agent that has ended: a server may tell of a new segment a minute later */
#define MISSING_MS 90000
#define CHUNK 65536

static const char *const streams[] = { RECORD_STDOUT, RECORD_STDERR };

struct follower {
	const struct shim_job *job;
	int dirfd, place;
	int words;		/* what the launcher says on stderr, unless it is the first */
	uint64_t copied[2];
	pid_t launcher;		/* that runs, 0: none */
	int64_t next, pause;	/* monotonic: of the next one */
	bool cut;		/* the last one has failed, and it was told */
	int64_t ended;		/* monotonic: the agent has, as first seen; 0: not yet */
};

static volatile sig_atomic_t told_to_end;

static void note_signal(int sig)
{
	told_to_end = sig;
}

static int64_t steady_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void say(const struct follower *f, const char *what)
{
	dprintf(STDERR_FILENO, "rld: %s: %s\n", f->job->argv[0], what);
}

static void write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n == -1 && errno != EINTR)
			_exit(FAR_REFUSED);
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
}

/* What is missing in the middle was over the limit of the agent there. It is over that of the near
 * rl-shim too, which has to count it. */
static void fill_gap(int fd, uint64_t size)
{
	static const char zeros[CHUNK];

	for (; size > 0; size -= size < CHUNK ? size : CHUNK)
		write_all(fd, zeros, size < CHUNK ? size : CHUNK);
}

/* What the agent has printed since. */
static void copy(struct follower *f)
{
	static char chunk[CHUNK];

	for (int i = 0; i < 2; i++) {
		struct output_chunk read = { 0 };

		while (output_read(f->place, streams[i], f->copied[i], chunk, sizeof(chunk), &read) == 0 &&
		    read.size > 0) {
			fill_gap(STDOUT_FILENO + i, read.offset - f->copied[i]);
			write_all(STDOUT_FILENO + i, chunk, read.size);
			f->copied[i] = read.offset + read.size;
		}
	}
}

static bool is_complete(const struct follower *f, const struct exit_record *record)
{
	return f->copied[0] == (uint64_t)record->stdout_bytes && f->copied[1] == (uint64_t)record->stderr_bytes;
}

static void repeat(int fd)
{
	char words[4096];
	ssize_t n = pread(fd, words, sizeof(words), 0);

	if (n > 0)
		write_all(STDERR_FILENO, words, (size_t)n);
}

static void repeat_said(const struct follower *f)
{
	int fd = openat(f->dirfd, RECORD_SAID, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd == -1)
		return;
	repeat(fd);
	close(fd);
}

static void exit_if_ended(struct follower *f)
{
	struct exit_record record;
	struct far_status far;
	bool complete;

	far_status_read(f->dirfd, f->job->far, f->job->uuid, &far);
	if (far.found != FAR_ENDED && far.found != FAR_SIGNALLED)
		return;
	copy(f);
	complete = exit_record_read(f->place, &record) == 0 && is_complete(f, &record);
	f->ended = f->ended != 0 ? f->ended : steady_ms();
	/* a signal makes it a lost attempt in any case, perhaps without a record */
	if (!complete && far.found == FAR_ENDED && told_to_end == 0) {
		if (steady_ms() < f->ended + MISSING_MS)
			return;
		say(f, "some output of the agent is missing here");
		_exit(far.status != FAR_GONE ? FAR_GONE : FAR_REFUSED);
	}
	if (complete && record.how == EXIT_NOT_STARTED)
		dprintf(STDERR_FILENO, "%s\n", record.error);
	repeat_said(f);
	_exit(far.status);
}

/* Of a launcher that has failed. */
static void repeat_words(const struct follower *f)
{
	repeat(f->words);
}

/* The launcher has been there, or not. */
static void take_word(struct follower *f, int status)
{
	if (status == FAR_GONE) {
		exit_if_ended(f);
		copy(f);
		_exit(FAR_GONE);
	}
	if (status != 0 && !f->cut) {
		repeat_words(f);
		say(f, "the connection to the agent is lost; it may work on, and rld tries again");
	}
	if (status == 0 && f->cut)
		say(f, "there is a connection to the agent again");
	f->cut = status != 0;
	if (status == 0 && f->job->copied == 1)
		f->pause = NEXT_MS;
	f->next = steady_ms() + f->pause;
	f->pause = f->pause * 2 < AGAIN_MAX_MS ? f->pause * 2 : AGAIN_MAX_MS;
}

static int launch(struct follower *f)
{
	return posix_spawnp(&f->launcher, f->job->argv[0], NULL, NULL, f->job->argv, environ);
}

/* What it prints is nothing of the agent's. */
static int launch_again(struct follower *f)
{
	posix_spawn_file_actions_t files;
	int rv = posix_spawn_file_actions_init(&files);

	if (rv != 0)
		return rv;
	rv = ftruncate(f->words, 0) == -1 || lseek(f->words, 0, SEEK_SET) == -1 ? errno : 0;
	if (rv == 0)
		rv = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (rv == 0)
		rv = posix_spawn_file_actions_adddup2(&files, f->words, STDERR_FILENO);
	if (rv == 0)
		rv = posix_spawnp(&f->launcher, f->job->argv[0], &files, NULL, f->job->argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return rv;
}

static void connect_from_time_to_time(struct follower *f)
{
	int status;

	if (f->launcher != 0 && waitpid(f->launcher, &status, WNOHANG) == f->launcher) {
		f->launcher = 0;
		take_word(f, status_of(status));
	}
	if (f->launcher == 0 && steady_ms() >= f->next && launch_again(f) != 0) {
		f->launcher = 0;
		take_word(f, FAR_REFUSED);
	}
}

/* An rl-shim there has the agent, or may have it in a moment. */
static bool is_followed(const struct follower *f, int status)
{
	struct far_claim claim;
	struct far_status far;

	far_claim_read(f->dirfd, &claim);
	far_status_read(f->dirfd, f->job->far, f->job->uuid, &far);
	return claim.by == FAR_COPIED || (claim.by == FAR_BY_SHIM && (far.found != FAR_EMPTY || status != FAR_REFUSED));
}

static void die_by(int sig)
{
	prctl(PR_SET_DUMPABLE, 0);	/* no core file */
	signal(sig, SIG_DFL);
	raise(sig);
	_exit(128 + sig);
}

/* As the launcher has ended. */
static void exit_as(int status)
{
	if (WIFSIGNALED(status))
		die_by(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}

/* Where agents have another user, it may not list the attempt's directory. */
static bool open_place(struct follower *f)
{
	if (f->dirfd == -1)
		f->dirfd = open(f->job->follows, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->dirfd != -1 && f->place == -1)
		f->place = openat(f->dirfd, RECORD_PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->place != -1;
}

/* Unless an rl-shim has the agent, the launcher's end is that of the agent. */
static int await_first(struct follower *f)
{
	int status;

	while (waitpid(f->launcher, &status, 0) == -1)
		if (errno != EINTR)
			_exit(FAR_REFUSED);
	f->launcher = 0;
	if (!open_place(f) || !is_followed(f, status_of(status)))
		exit_as(status);
	return status_of(status);
}

int follow(const struct shim_job *job, int told)
{
	struct follower f = { .job = job, .dirfd = -1, .place = -1, .pause = AGAIN_MS };
	bool first = job->began_ms == 0;
	int status = 0, rv = first ? launch(&f) : 0;

	if (rv != 0)
		return rv;
	prctl(PR_SET_NAME, "rl-follow");	/* it is no supervisor */
	close_range(STDERR_FILENO + 1, (unsigned)told - 1, 0);
	close_range((unsigned)told, ~0U, 0);
	if (first)
		status = await_first(&f);
	f.words = memfd_create("words", MFD_CLOEXEC);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = note_signal }, NULL);
	/* the agent is known to be there: it is not lost because it cannot be seen now */
	while (!open_place(&f) && told_to_end == 0)
		poll(NULL, 0, LOOK_MS);
	if (first)
		take_word(&f, status);
	for (;; connect_from_time_to_time(&f)) {
		copy(&f);
		exit_if_ended(&f);
		if (told_to_end != 0)
			die_by(told_to_end);
		poll(NULL, 0, LOOK_MS);
	}
}
