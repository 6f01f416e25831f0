/* SPDX-License-Identifier: MIT */
/* proc against the real rl-shim: starts, reports, ends, adoptions, strays. Waits are for reports,
 * FIFOs and deaths. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/file.h"
#include "proc/inspect.h"
#include "proc/proc_int.h"
#include "proc/spawn.h"
#include "proc/strays.h"
#include "proto/memory.h"
#include "record/far_status.h"
#include "record/identity.h"
#include "record/layout.h"
#include "record/lock_file.h"
#include "record/output.h"
#include "scratch.h"

#define IDS 64

/* What was reported of one attempt. */
struct report {
	int started, refused, taken, ended, found;
	int64_t vacant;
	int status;		/* of the refusal */
	bool lost;			/* ended() without a record */
	enum proc_found how;
	bool has_record;
	struct exit_record record;
	char text[512];
	bool end_on_start;		/* call proc_end from inside started() */
};

static struct {
	uv_loop_t loop;
	struct proc *proc;
	struct report of[IDS];
	int reports, closed;
	char root[64], attempts[80], shim[PATH_MAX];
	int fds;
} w;

static void on_started(void *arg, int64_t id)
{
	ck_assert_ptr_eq(arg, &w);
	w.of[id].started++;
	w.reports++;
	ck_assert_int_eq(w.of[id].ended, 0);
	if (w.of[id].end_on_start)
		proc_end(w.proc, id);
}

static void on_refused(void *arg, int64_t id, int status, const char *error)
{
	ck_assert_ptr_eq(arg, &w);
	w.of[id].refused++;
	w.of[id].status = status;
	w.reports++;
	snprintf(w.of[id].text, sizeof(w.of[id].text), "%s", error);
}

static void on_taken(void *arg, int64_t id, int64_t vacant)
{
	ck_assert_ptr_eq(arg, &w);
	w.of[id].taken++;
	w.reports++;
	w.of[id].vacant = vacant;
}

static void on_ended(void *arg, int64_t id, const struct exit_record *record)
{
	ck_assert_ptr_eq(arg, &w);
	w.of[id].ended++;
	w.reports++;
	w.of[id].lost = record == NULL;
	if (record != NULL)
		w.of[id].record = *record;
}

static void on_found(void *arg, int64_t id, enum proc_found found, const struct exit_record *record, const char *detail)
{
	ck_assert_ptr_eq(arg, &w);
	w.of[id].found++;
	w.reports++;
	w.of[id].how = found;
	w.of[id].has_record = record != NULL;
	if (record != NULL)
		w.of[id].record = *record;
	snprintf(w.of[id].text, sizeof(w.of[id].text), "%s", detail != NULL ? detail : "");
}

static const struct proc_sink sink = { on_started, on_refused, on_taken, on_ended, on_found };

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static void find_shim(void)
{
	const char *named = getenv("RL_SHIM");
	char self[PATH_MAX - 32];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	if (named != NULL)
		snprintf(w.shim, sizeof(w.shim), "%s", named);
	else
		snprintf(w.shim, sizeof(w.shim), "%s/../rl-shim", self);
	ck_assert_msg(access(w.shim, X_OK) == 0, "%s is not built", w.shim);
}

static void open_proc(void)
{
	w.proc = proc_new(&w.loop, w.attempts, w.shim, &sink, &w);
}

static void setup(void)
{
	memset(&w, 0, sizeof(w));
	find_shim();
	w.fds = count_fds();
	scratch_make(w.root, sizeof(w.root), "proc");
	snprintf(w.attempts, sizeof(w.attempts), "%s/attempts", w.root);
	ck_assert_int_eq(mkdir(w.attempts, 0700), 0);
	ck_assert_int_eq(uv_loop_init(&w.loop), 0);
	open_proc();
}

static void on_closed(void *arg)
{
	ck_assert_ptr_eq(arg, &w);
	w.closed++;
}

/* As a daemon that stops: nothing is told any more, attempts go on. */
static void close_proc(void)
{
	int closed = w.closed, reports;

	proc_close(w.proc, on_closed, &w);
	ck_assert_int_eq(w.closed, closed);	/* never from inside */
	reports = w.reports;
	while (w.closed == closed)
		uv_run(&w.loop, UV_RUN_ONCE);
	ck_assert_int_eq(w.closed, closed + 1);
	ck_assert_int_eq(w.reports, reports);
	w.proc = NULL;
}

static void teardown(void)
{
	char command[128];

	if (w.proc != NULL)
		close_proc();
	uv_run(&w.loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&w.loop), 0);
	/* no child is left, dead or alive */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	/* the loop's own machinery (signal pipe) stays until exit; attempts must leave nothing */
	ck_assert_int_le(count_fds(), w.fds + 4);
	snprintf(command, sizeof(command), "rm -rf '%s'", w.root);
	ck_assert_int_eq(system(command), 0);
}

#define WAIT_FOR(condition)					\
	do {							\
		while (!(condition))				\
			uv_run(&w.loop, UV_RUN_ONCE);		\
	} while (0)

static const char *attempt_dir(int64_t id)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%lld", w.attempts, (long long)id);
	return path;
}

static const char *uuid_of(int64_t id)
{
	static char uuid[64];

	snprintf(uuid, sizeof(uuid), "test-%d-%lld", (int)getpid(), (long long)id);
	return uuid;
}

/* The directory as rld has it when it starts the shim, but for the lock. */
static int open_attempt(int64_t id)
{
	char *argv[] = { (char[]){ "x" }, NULL }, cwd[] = "/";
	struct shim_job job = { .argv = argv, .cwd = cwd, .uuid = (char *)uuid_of(id) };
	int fd;

	ck_assert_int_eq(file_mkdirs(attempt_dir(id), 0700), 0);
	fd = open(attempt_dir(id), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(shim_job_write(fd, &job), 0);
	return fd;
}

/* A job of the shell, in its attempt's directory. */
static struct launch *shell(int64_t id, const char *script)
{
	struct launch *launch = xcalloc(1, sizeof(*launch));

	launch->id = id;
	strings_append(&launch->job.argv, "/bin/sh");
	strings_append(&launch->job.argv, "-c");
	strings_append(&launch->job.argv, script);
	launch->job.cwd = xstrdup(w.attempts);
	launch->job.uuid = xstrdup(uuid_of(id));
	launch->job.grace_ms = 10000;
	strings_append(&launch->envp, "PATH=/usr/bin:/bin");
	return launch;
}

/* FIFOs <attempts>/up, go: the job says that it runs, the test lets it go on. */
static void make_fifos(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/up", w.attempts);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/go", w.attempts);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static void meet(const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", w.attempts, name);
	fd = open(path, flags | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

#define MEET "exec 9> up; exec 9>&-; exec 9< go; "

static void wait_up(void)
{
	meet("up", O_RDONLY);
}

static void let_go(void)
{
	meet("go", O_WRONLY);
}

static void adopt_as(int64_t id, const char *uuid, const char *boot_id)
{
	struct adopt a = { .id = id, .uuid = uuid, .boot_id = boot_id };

	w.of[id].found = 0;
	proc_adopt(w.proc, &a);
}

static void adopt(int64_t id, const char *boot_id)
{
	adopt_as(id, uuid_of(id), boot_id);
}

static void expect_found(int64_t id, enum proc_found how)
{
	WAIT_FOR(w.of[id].found);
	ck_assert_int_eq(w.of[id].how, how);
	ck_assert_int_eq(w.of[id].has_record, how == FOUND_ENDED);
}

static pid_t shim_pid(int64_t id)
{
	struct identity identity;
	int dirfd = open(attempt_dir(id), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(identity_read(dirfd, &identity), 0);
	close(dirfd);
	return (pid_t)identity.pid;
}

/* A process that carries the mark of an attempt, behind so many bytes of other variables. */
static pid_t stray_behind(int64_t id, size_t bytes)
{
	char mark[96], *filler = xcalloc(1, bytes + 1);
	char *argv[] = { (char[]){ "sleep" }, (char[]){ "1000" }, NULL }, *envp[] = { filler, mark, NULL };
	pid_t pid;

	memset(filler, 'x', bytes);
	filler[1] = '=';
	snprintf(mark, sizeof(mark), "RL_ATTEMPT_UUID=%s", uuid_of(id));
	ck_assert_int_eq(posix_spawn(&pid, "/bin/sleep", NULL, NULL, argv, envp), 0);
	free(filler);
	return pid;
}

static pid_t stray(int64_t id)
{
	return stray_behind(id, 3);
}

static int status_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Dead, and reaped by those who have killed it or by us. */
static void expect_killed(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) == pid)
		ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	ck_assert_int_eq(kill(pid, 0), -1);
	ck_assert_int_eq(errno, ESRCH);
}

START_TEST(exit_is_told)
{
	proc_start(w.proc, shell(1, "exit 7"));
	ck_assert_int_eq(w.reports, 0);		/* never from inside */
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].started, 1);
	ck_assert(!w.of[1].lost);
	ck_assert_int_eq(w.of[1].record.how, EXIT_BY_CODE);
	ck_assert_int_eq(w.of[1].record.status, 7);
	ck_assert_int_eq(w.of[1].record.by, EXIT_OWN);
	ck_assert(w.of[1].record.tree_empty);
	proc_end(w.proc, 1);		/* ended, and unknown: nothing happens */
	proc_end(w.proc, 2);
}
END_TEST

START_TEST(many_at_once)
{
	for (int id = 0; id < IDS; id++) {
		char script[32];

		snprintf(script, sizeof(script), "exit %d", id + 100);
		proc_start(w.proc, shell(id, script));
	}
	WAIT_FOR(w.reports == 2 * IDS);
	for (int id = 0; id < IDS; id++) {
		ck_assert_int_eq(w.of[id].started, 1);
		ck_assert_int_eq(w.of[id].ended, 1);
		ck_assert_int_eq(w.of[id].record.status, id + 100);
	}
}
END_TEST

START_TEST(files_environment_and_limits)
{
	struct launch *launch = shell(1,
	    "cat; echo $RL_ATTEMPT_UUID $MORE; umask; ulimit -Sn; prlimit --core --noheadings "
	    "--raw --output SOFT; prlimit -p $PPID --core --noheadings --raw --output SOFT");
	char want[256], got[256];
	struct output_chunk chunk;
	struct rlimit core;
	struct stat st;
	int dirfd;

	ck_assert_int_eq(getrlimit(RLIMIT_CORE, &core), 0);
	launch->files[launch->nfiles++] = (struct launch_file){
	    .name = RECORD_PROMPT, .data = xstrdup("the prompt\n"), .size = 11 };
	launch->job.input = xstrdup(RECORD_PROMPT);
	strings_append(&launch->envp, "MORE=x");
	/* AddressSanitizer in rl-shim takes the limit of core files to 0 */
	strings_append(&launch->envp, "ASAN_OPTIONS=disable_coredump=0");
	proc_set_inherited(w.proc, 027, 99, 4096);
	proc_start(w.proc, launch);
	WAIT_FOR(w.of[1].ended);
	snprintf(want, sizeof(want), "the prompt\n%s x\n0027\n99\n%d\n0\n", uuid_of(1),
	    core.rlim_max < 4096 ? (int)core.rlim_max : 4096);
	dirfd = open_attempt(1);
	ck_assert_int_eq(output_read(dirfd, RECORD_STDOUT, 0, got, sizeof(got), &chunk), 0);
	ck_assert_int_eq((int)chunk.size, (int)strlen(want));
	ck_assert_mem_eq(got, want, chunk.size);
	ck_assert_int_eq(fstat(dirfd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	close(dirfd);
}
END_TEST

/* A job behind a launcher: launch is its script, which has the agent's argv as its arguments; agent
 * is a script, too. cancel NULL: it only says that it was called, in <attempts>/cancelled. */
static struct launch *placed(int64_t id, const char *launcher, const char *agent, const char *cancel)
{
	struct launch *launch = shell(id, launcher);
	const char *const words[] = { "launcher", "sh", "-c", far_script, "rl-far", NULL, uuid_of(id), "sh", "-c",
	    agent };
	char *path = xasprintf("%s/" RECORD_FAR, attempt_dir(id)), *ends;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		strings_append(&launch->job.argv, words[i] != NULL ? words[i] : path);
	free(path);
	launch->job.far = xstrdup(RECORD_FAR);
	ends = xasprintf("echo %s >> %s/cancelled; %s", uuid_of(id), w.attempts, cancel != NULL ? cancel : "");
	strings_append(&launch->job.cancel, "/bin/sh");
	strings_append(&launch->job.cancel, "-c");
	strings_append(&launch->job.cancel, ends);
	free(ends);
	launch->files[launch->nfiles++] = (struct launch_file){ .name = RECORD_FAR, .data = xstrdup(""), .size = 0 };
	launch->files[launch->nfiles++] = (struct launch_file){ .name = RECORD_PLACE };
	return launch;
}

/* How often the cancel commands were called. */
static int cancels(void)
{
	char path[128], line[128];
	FILE *file;
	int count = 0;

	snprintf(path, sizeof(path), "%s/cancelled", w.attempts);
	file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		count++;
	if (file != NULL)
		fclose(file);
	return count;
}

/* What the launcher and its agent do, and what that proves. */
static const struct {
	const char *launcher, *agent, *cancel;
	enum exit_far far;
	enum exit_how how;
	int status;
	enum exit_cancel cancelled;
	int cancels;
	const char *error;
} placements[] = {
	{ "exec \"$@\"", "exit 0", NULL, EXIT_FAR_ENDED, EXIT_BY_CODE, 0, EXIT_CANCEL_NONE, 0, NULL },
	{ "exec \"$@\"", "exit 7", NULL, EXIT_FAR_ENDED, EXIT_BY_CODE, 7, EXIT_CANCEL_NONE, 0, NULL },
	{ "exec \"$@\"", "kill -9 $$", NULL, EXIT_FAR_ENDED, EXIT_BY_CODE, 137, EXIT_CANCEL_NONE, 0, NULL },
	/* as a cancelled srun: the agent is killed with its script, and the launcher returns 0 */
	{ "\"$@\"; exit 0", "kill -9 $PPID; exit 0", NULL, EXIT_FAR_UNKNOWN, EXIT_BY_CODE, 0,
	    EXIT_CANCEL_UNSEEN, 1, "nothing says how the agent ended" },
	/* as an agent that exits with 0 when somebody else cancels its job */
	{ "exec \"$@\"", "kill -TERM $PPID; exit 0", NULL, EXIT_FAR_UNKNOWN, EXIT_BY_CODE, 0,
	    EXIT_CANCEL_DONE, 1, "told to end there" },
	{ "exit 0", "exit 0", NULL, EXIT_FAR_NOT_STARTED, EXIT_NOT_STARTED, ECHILD,
	    EXIT_CANCEL_DONE, 1, "before it started the agent" },
	{ "kill -9 $$", "exit 0", NULL, EXIT_FAR_NOT_STARTED, EXIT_NOT_STARTED, ECHILD,
	    EXIT_CANCEL_DONE, 1, "by signal 9" },
	{ "\"$@\"; exit 1", "exit 0", NULL, EXIT_FAR_UNKNOWN, EXIT_BY_CODE, 1,
	    EXIT_CANCEL_DONE, 1, "the end of its output" },
	{ "\"$@\"; \"$@\"", "exit 0", NULL, EXIT_FAR_UNKNOWN, EXIT_BY_CODE, 75,
	    EXIT_CANCEL_DONE, 1, "the end of its output" },
	{ "\"$@\"; echo x >> \"$5\"", "exit 0", NULL, EXIT_FAR_UNKNOWN, EXIT_BY_CODE, 0,
	    EXIT_CANCEL_UNSEEN, 1, "is damaged" },
	/* nothing was started, whatever the command says; and what comes late starts nothing */
	{ "exit 0", "exit 0", "exit 1", EXIT_FAR_NOT_STARTED, EXIT_NOT_STARTED, ECHILD, EXIT_CANCEL_DONE, 1, NULL },
	{ "ln -s revoked \"${5%/*}/place/claim\"; \"$@\"", "exit 0", NULL,
	    EXIT_FAR_NOT_STARTED, EXIT_NOT_STARTED, ECHILD, EXIT_CANCEL_DONE, 1, "with status 75" },
	/* one has claimed it, so it may have begun; the first cancel fails */
	{ "ln -s 1.b.m \"${5%/*}/place/claim\"", "exit 0", "[ $(wc -l < cancelled) -gt 1 ]",
	    EXIT_FAR_NOT_STARTED, EXIT_NOT_STARTED, ECHILD, EXIT_CANCEL_DONE, 2, NULL },
};

START_TEST(placed_agent)
{
	struct exit_record *r = &w.of[1].record;
	char *cancel = placements[_i].cancel != NULL ?
	    xasprintf("cd %s; %s", w.attempts, placements[_i].cancel) : NULL;

	proc_start(w.proc, placed(1, placements[_i].launcher, placements[_i].agent, cancel));
	free(cancel);
	WAIT_FOR(w.of[1].ended);
	ck_assert(!w.of[1].lost);
	ck_assert_int_eq(r->far, placements[_i].far);
	ck_assert_int_eq(r->how, placements[_i].how);
	ck_assert_int_eq(r->status, placements[_i].status);
	ck_assert_int_eq(cancels(), placements[_i].cancels);
	ck_assert_int_eq(r->cancelled, placements[_i].cancelled);
	ck_assert_int_eq(r->tree_empty, placements[_i].cancelled != EXIT_CANCEL_UNSEEN);
	if (placements[_i].error != NULL)
		ck_assert_msg(strstr(r->error, placements[_i].error) != NULL, "%s", r->error);
}
END_TEST

/* What was placed is signalled where it is, and its launcher after that: it may end its agent
 * without grace. */
START_TEST(placed_agent_is_ended)
{
	char *agent = xasprintf("trap 'echo first >> %s/cancelled; exit 3' INT; echo $$ > %s/agent; "
	    "exec 9> up; exec 9>&-; while :; do sleep 0.05; done", w.attempts, w.attempts),
	    *cancel = xasprintf("a=$(cat %s/agent); kill -INT $a; while kill -0 $a; do sleep 0.05; done; true",
	    w.attempts);

	make_fifos();
	proc_start(w.proc, placed(1, "\"$@\"; exit 4", agent, cancel));
	WAIT_FOR(w.of[1].started);
	wait_up();
	proc_end(w.proc, 1);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.by, EXIT_TERM);
	ck_assert_int_eq(w.of[1].record.far, EXIT_FAR_NONE);
	ck_assert_int_eq(w.of[1].record.cancelled, EXIT_CANCEL_DONE);
	ck_assert(w.of[1].record.tree_empty);
	/* the command, which signals it, what the agent says, and the command once more */
	ck_assert_int_eq(cancels(), 3);
	free(agent);
	free(cancel);
}
END_TEST

/* What is killed cannot say that it has ended: nobody knows that, whatever the cancel command says.
 * But if the agent has given its result, its work is done. */
START_TEST(placed_agent_is_not_seen_to_end)
{
	struct launch *launch = placed(1, "exec \"$@\"", "trap '' TERM; " MEET "echo never", NULL);

	make_fifos();
	launch->job.grace_ms = 100;
	launch->job.post_result_ms = 100;
	proc_start(w.proc, launch);
	WAIT_FOR(w.of[1].started);
	wait_up();
	if (_i == 0)
		proc_end(w.proc, 1);
	else
		proc_wind_up(w.proc, 1);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.by, _i == 0 ? EXIT_TERM : EXIT_RESULT);
	ck_assert_int_eq(w.of[1].record.far, _i == 0 ? EXIT_FAR_UNKNOWN : EXIT_FAR_NONE);
	ck_assert_int_eq(w.of[1].record.cancelled, EXIT_CANCEL_UNSEEN);
	ck_assert(!w.of[1].record.tree_empty);
}
END_TEST

/* Without a shim, nobody but rld is left to end what was placed. */
static const struct {
	const char *launcher, *cancel;
	enum exit_cancel cancelled;
	const char *error;
} shimless[] = {
	{ "exec \"$@\"", "echo ended $RLD_UUID 143 signalled >> 1/far", EXIT_CANCEL_DONE, "rl-shim was killed" },
	/* nothing was started: it is still in a queue */
	{ MEET, NULL, EXIT_CANCEL_DONE, "rl-shim was killed" },
	{ "exec \"$@\"", "exit 1", EXIT_CANCEL_FAILED, "may still run there" },
	{ "exec \"$@\"", NULL, EXIT_CANCEL_UNSEEN, "nothing says that the agent has ended" },
};

START_TEST(placed_agent_without_a_shim)
{
	char *cancel = shimless[_i].cancel == NULL ? NULL :
	    xasprintf("cd %s; RLD_UUID=%s; %s", w.attempts, uuid_of(1), shimless[_i].cancel);

	make_fifos();
	proc_start(w.proc, placed(1, shimless[_i].launcher, MEET "echo never", cancel));
	free(cancel);
	WAIT_FOR(w.of[1].started);
	wait_up();
	kill(shim_pid(1), SIGKILL);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_gt(cancels(), 0);
	ck_assert(!w.of[1].lost);
	ck_assert_int_eq(w.of[1].record.far, EXIT_FAR_UNKNOWN);
	ck_assert_int_eq(w.of[1].record.cancelled, shimless[_i].cancelled);
	ck_assert_int_eq(w.of[1].record.tree_empty, shimless[_i].cancelled == EXIT_CANCEL_DONE);
	ck_assert_msg(strstr(w.of[1].record.error, shimless[_i].error) != NULL, "%s", w.of[1].record.error);
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_ENDED);
	ck_assert_int_eq(w.of[1].record.far, EXIT_FAR_UNKNOWN);
}
END_TEST

static const struct patience no_patience = { 1, 1, 1, 1, 1 };

/* As an rl-shim does that has the agent where it is placed. */
static const char claimed[] =
    "[ -s 1/far ] || { ln -s shim-1.boot.machine 1/place/claim; echo started $0 node >> 1/far; }";

static bool is_there(const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", attempt_dir(1), name);
	return lstat(path, &st) == 0 && (S_ISLNK(st.st_mode) || st.st_size > 0);
}

/* With an input file. Returns when it is followed. */
static void start_followed(const char *cancel)
{
	struct launch *launch = placed(1, claimed, "echo never", cancel);

	strings_free(launch->job.argv);
	launch->job.argv = NULL;
	for (size_t i = 0; i < 4; i++)
		strings_append(&launch->job.argv, (const char *const[]){ "sh", "-c", claimed, uuid_of(1) }[i]);
	launch->job.follows = xstrdup(attempt_dir(1));
	launch->job.input = xstrdup("in");
	launch->files[launch->nfiles++] = (struct launch_file){ .name = "in", .data = xstrdup("") };
	proc_start(w.proc, launch);
	WAIT_FOR(w.of[1].started);
	while (!is_there(RECORD_FAR) || !is_there(RECORD_CLAIM))
		usleep(1000);
}

/* Another one with an identity than this. */
static pid_t wait_another(pid_t pid)
{
	struct identity identity = { .pid = pid };
	int dirfd = open(attempt_dir(1), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (identity_read(dirfd, &identity) != 0 || identity.pid == pid) {
		identity.pid = pid;
		uv_run(&w.loop, UV_RUN_NOWAIT);
		usleep(1000);
	}
	close(dirfd);
	return (pid_t)identity.pid;
}

/* Its rl-shim there has left a record, and then told. */
static void end_there(void)
{
	const struct exit_record record = { .how = EXIT_BY_CODE, .status = 3, .started_ms = 1, .ended_ms = 2,
	    .stdout_bytes = 5, .tree_empty = true };
	int dirfd = open(attempt_dir(1), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int place = openat(dirfd, RECORD_PLACE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(file_write(place, RECORD_STDOUT ".0000000000000000", "words", 5, 0600, false), 0);
	ck_assert_int_eq(exit_record_write(place, &record, false), 0);
	ck_assert_int_eq(far_tell_ended(dirfd, RECORD_FAR, uuid_of(1), 3, false), 0);
	close(place);
	close(dirfd);
}

START_TEST(followed_agent_outlives_its_shims)
{
	struct output_chunk chunk;
	char got[16];
	pid_t pid;
	int dirfd;

	start_followed(NULL);
	pid = shim_pid(1);
	for (int i = 0; i < 2; i++) {
		kill(pid, SIGKILL);
		pid = wait_another(pid);
	}
	if (_i == 1) {
		/* and rld stops meanwhile */
		close_proc();
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		end_there();
		open_proc();
		adopt(1, proc_boot_id());
		expect_found(1, FOUND_RUNNING);
	} else {
		end_there();
	}
	WAIT_FOR(w.of[1].ended);
	ck_assert(w.of[1].started == 1 && !w.of[1].lost && cancels() == 0);
	ck_assert_int_eq(w.of[1].record.far, EXIT_FAR_ENDED);
	ck_assert_int_eq(w.of[1].record.status, 3);
	dirfd = open(attempt_dir(1), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(output_read(dirfd, RECORD_STDOUT, 0, got, sizeof(got), &chunk), 0);
	close(dirfd);
	ck_assert_mem_eq(got, "words", chunk.size);
	ck_assert_uint_eq(chunk.size, 5);
	ck_assert(!is_there(RECORD_PLACE "/" RECORD_STDOUT ".0000000000000000"));
}
END_TEST

/* To end it, some are enough: one that rld itself has killed, or three that could not begin. */
START_TEST(followed_agent_is_ended_without_a_shim)
{
	char path[160];
	pid_t pid;

	start_followed("sleep 0.2; exit 1");
	pid = shim_pid(1);
	if (_i == 0) {
		w.proc->patience = no_patience;
		w.proc->patience.kill = 60000;
		proc_end(w.proc, 1);
	} else {
		snprintf(path, sizeof(path), "%s/in", attempt_dir(1));
		ck_assert_int_eq(unlink(path), 0);
		kill(pid, SIGKILL);
		wait_another(pid);
		proc_end(w.proc, 1);
	}
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.far, EXIT_FAR_UNKNOWN);
	ck_assert_int_eq(w.of[1].record.cancelled, EXIT_CANCEL_FAILED);
	ck_assert(_i != 0 || shim_pid(1) == pid);
}
END_TEST

/* A copy of the state directory says nothing about the original, whose path is in the job. */
START_TEST(followed_agent_of_a_copy)
{
	char command[400], from[128];
	pid_t pid;

	start_followed("exit 1");
	pid = shim_pid(1);
	close_proc();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	snprintf(from, sizeof(from), "%s", attempt_dir(1));
	snprintf(command, sizeof(command), "mkdir %s/copy && cp -a %s %s/copy", w.root, from, w.root);
	ck_assert_int_eq(system(command), 0);
	snprintf(w.attempts, sizeof(w.attempts), "%s/copy", w.root);
	open_proc();
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_ENDED);
	ck_assert_int_eq(w.of[1].record.cancelled, EXIT_CANCEL_FAILED);
}
END_TEST

/* The job's wish reaches the shim, and what came of it comes back. */
START_TEST(confinement_is_told)
{
	long kernel = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	char path[128];

	for (int64_t id = 1; id <= 2; id++) {
		struct launch *launch = shell(id, "echo x > kept; echo x > made; test -e made");

		snprintf(path, sizeof(path), "%s/kept", w.attempts);
		close(open(path, O_WRONLY | O_CREAT, 0600));
		launch->job.sandbox = id == 1 ? JOB_TRY : JOB_OPEN;
		strings_append(&launch->job.writable, path);
		proc_start(w.proc, launch);
		WAIT_FOR(w.of[id].ended);
		ck_assert_int_eq(w.of[id].record.sandbox, id == 2 || kernel < 0 ? 0 : kernel < 6 ? kernel : 6);
		ck_assert_int_eq(w.of[id].record.status, id == 1 && kernel >= 1);
	}
}
END_TEST

START_TEST(missing_shim_is_refused)
{
	close_proc();
	snprintf(w.shim, sizeof(w.shim), "/no/such/shim");
	open_proc();
	proc_start(w.proc, shell(1, "exit 0"));
	WAIT_FOR(w.of[1].refused);
	ck_assert_str_eq(w.of[1].text, "/no/such/shim: No such file or directory");
	ck_assert_int_eq(w.reports, 1);
}
END_TEST

START_TEST(missing_place_is_refused)
{
	close_proc();
	snprintf(w.attempts, sizeof(w.attempts), "/proc/version");
	open_proc();
	proc_start(w.proc, shell(1, "exit 0"));
	WAIT_FOR(w.of[1].refused);
	ck_assert_str_eq(w.of[1].text, "attempt directory /proc/version/1: Not a directory");
}
END_TEST

START_TEST(senseless_job_is_refused)
{
	struct launch *launch = shell(1, "exit 0");

	free(launch->job.cwd);
	launch->job.cwd = xstrdup("here");
	proc_start(w.proc, launch);
	WAIT_FOR(w.of[1].refused);
	ck_assert_ptr_nonnull(strstr(w.of[1].text, "/job: Invalid argument"));
}
END_TEST

START_TEST(directory_is_used_once)
{
	proc_start(w.proc, shell(1, "exit 3"));
	WAIT_FOR(w.of[1].ended);
	proc_start(w.proc, shell(1, "exit 4"));
	WAIT_FOR(w.of[1].taken);
	ck_assert_int_eq(w.of[1].vacant, 2);
	ck_assert_int_eq(w.of[1].started, 1);
}
END_TEST

/* Whoever makes the directory of a number to come gets it, and what it has put there stays as it is
 * and counts for nothing. */
START_TEST(directory_that_was_there_is_not_taken)
{
	char path[128];

	ck_assert_int_eq(mkdir(attempt_dir(1), 0700), 0);
	close(open_attempt(2));
	snprintf(path, sizeof(path), "%s/3", w.attempts);
	ck_assert_int_eq(symlink("/no/such/place", path), 0);
	snprintf(path, sizeof(path), "%s/4", w.attempts);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	for (int64_t id = 1; id <= 4; id++) {
		proc_start(w.proc, shell(id, "exit 0"));
		WAIT_FOR(w.of[id].taken);
		ck_assert_int_eq(w.of[id].vacant, 5);
		ck_assert_int_eq(w.of[id].started + w.of[id].refused, 0);
	}
	ck_assert_int_eq(rmdir(attempt_dir(1)), 0);
}
END_TEST

START_TEST(missing_agent_is_told)
{
	struct launch *launch = shell(1, "");

	free(launch->job.argv[0]);
	launch->job.argv[0] = xstrdup("/no/such/agent");
	proc_start(w.proc, launch);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.how, EXIT_NOT_STARTED);
	ck_assert_int_eq(w.of[1].record.status, ENOENT);
	ck_assert_str_eq(w.of[1].record.error, "exec /no/such/agent: No such file or directory");
}
END_TEST

/* A shim that ends before it says who it is has started nothing: that is known, not lost. */
START_TEST(shim_that_never_came_up)
{
	close_proc();
	snprintf(w.shim, sizeof(w.shim), "/bin/false");
	open_proc();
	proc_start(w.proc, shell(1, "exit 0"));
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].started, 1);
	ck_assert(!w.of[1].lost);
	ck_assert_int_eq(w.of[1].record.how, EXIT_NOT_STARTED);
}
END_TEST

START_TEST(end_while_running)
{
	make_fifos();
	proc_start(w.proc, shell(1, MEET "exit 0"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	proc_end(w.proc, 1);
	proc_end(w.proc, 1);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.how, EXIT_BY_SIGNAL);
	ck_assert_int_eq(w.of[1].record.status, SIGTERM);
	ck_assert_int_eq(w.of[1].record.by, EXIT_TERM);
	ck_assert_int_eq(w.of[1].record.sender_pid, getpid());
	ck_assert_int_eq(w.of[1].record.sender_uid, getuid());
}
END_TEST

/* One that has stopped its shim, which could not hear that it is to end. */
START_TEST(end_of_one_that_has_stopped_its_shim)
{
	make_fifos();
	proc_start(w.proc, shell(1, "kill -STOP $PPID; " MEET "exit 0"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	proc_end(w.proc, 1);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.by, EXIT_TERM);
}
END_TEST

/* Its limit holds all the same. */
START_TEST(wall_limit_of_one_that_has_stopped_its_shim)
{
	struct launch *launch = shell(1, "kill -STOP $PPID; sleep 1000");

	launch->job.wall_ms = 200;
	proc_start(w.proc, launch);
	WAIT_FOR(w.of[1].ended);
	ck_assert(!w.of[1].lost);
	ck_assert_int_eq(w.of[1].record.by, EXIT_WALL);
}
END_TEST


/* Nothing but SIGKILL moves it. */
static pid_t hold_still(int64_t id)
{
	pid_t shim = shim_pid(id);
	int status;

	ck_assert_int_eq(ptrace(PTRACE_SEIZE, shim, NULL, NULL), 0);
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, shim, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(shim, &status, __WALL), shim);
	ck_assert(WIFSTOPPED(status));
	return shim;
}

/* It stops with its record written and its lock held. */
static pid_t hold_at_exit(int64_t id)
{
	pid_t shim = shim_pid(id);
	int status;

	ck_assert_int_eq(ptrace(PTRACE_SEIZE, shim, NULL, PTRACE_O_TRACEEXIT), 0);
	let_go();
	do
		ck_assert_int_eq(waitpid(shim, &status, __WALL), shim);
	while (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXIT << 8) &&
	    ptrace(PTRACE_CONT, shim, NULL, WSTOPSIG(status)) == 0);
	return shim;
}

/* SIGKILL alone does not let it go. */
static void let_exit(pid_t shim)
{
	ptrace(PTRACE_CONT, shim, NULL, NULL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
}

static void start_to_meet(int64_t wall_ms, const char *script)
{
	struct launch *launch = shell(1, script);

	launch->job.wall_ms = wall_ms;
	launch->job.grace_ms = 1;
	make_fifos();
	proc_start(w.proc, launch);
	WAIT_FOR(w.of[1].started);
	wait_up();
}

static void expect_lost(void)
{
	WAIT_FOR(w.of[1].ended);
	ck_assert(w.of[1].lost);
}

/* Whoever asked for its end, and how often. */
START_TEST(shim_that_does_not_hear_its_end)
{
	w.proc->patience = no_patience;
	w.proc->patience.kill = 60000;		/* it goes at once */
	start_to_meet(0, MEET "exit 0");
	hold_still(1);
	proc_end(w.proc, 1);
	proc_end(w.proc, 1);
	expect_lost();
}
END_TEST

START_TEST(shim_that_stands_still_at_its_limit)
{
	w.proc->patience = no_patience;
	start_to_meet(60000, MEET "exit 0");
	hold_still(1);
	uv_timer_start(&LIST_FIRST(&w.proc->entries)->timer, LIST_FIRST(&w.proc->entries)->timer.timer_cb, 1, 0);
	expect_lost();
}
END_TEST

/* An adopted one has the limits of its job file. */
START_TEST(adopted_shim_that_stands_still)
{
	start_to_meet(200, "kill -STOP $PPID; " MEET "exit 0");
	hold_still(1);
	close_proc();
	open_proc();
	w.proc->patience = no_patience;
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_RUNNING);
	ck_assert_int_eq(LIST_FIRST(&w.proc->entries)->wall_ms, 200);
	expect_lost();
	/* its agent has become our child as well */
	while (waitpid(-1, NULL, 0) > 0)
		;
}
END_TEST

START_TEST(shim_that_hangs_at_its_exit)
{
	pid_t shim;

	w.proc->patience = no_patience;
	start_to_meet(0, MEET "exit 7");
	shim = hold_at_exit(1);
	proc_end(w.proc, 1);
	WAIT_FOR(w.of[1].ended);
	ck_assert(!w.of[1].lost);
	ck_assert_int_eq(w.of[1].record.status, 7);
	let_exit(shim);
}
END_TEST

START_TEST(adopted_shim_that_hangs_at_its_exit)
{
	pid_t shim;

	start_to_meet(0, MEET "exit 7");
	shim = hold_at_exit(1);
	close_proc();
	open_proc();
	w.proc->patience = no_patience;
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_RUNNING);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.status, 7);
	let_exit(shim);
}
END_TEST

/* Its agent is gone, and the record may wait for space: the limit has nothing to end. */
START_TEST(shim_that_has_only_its_record_to_write)
{
	char record[160], aside[160];
	struct entry *e;
	pid_t shim;

	w.proc->patience = no_patience;
	start_to_meet(60000, MEET "exit 7");
	shim = hold_at_exit(1);
	snprintf(record, sizeof(record), "%s/" RECORD_EXIT, attempt_dir(1));
	snprintf(aside, sizeof(aside), "%s/aside", w.attempts);
	ck_assert_int_eq(rename(record, aside), 0);
	e = LIST_FIRST(&w.proc->entries);
	uv_timer_start(&e->timer, e->timer.timer_cb, 1, 0);
	for (int i = 0; i < 50; i++) {
		uv_run(&w.loop, UV_RUN_ONCE);
		ck_assert_int_ne(e->delay, KILLED);
	}
	ck_assert_int_eq(e->delay, OVERDUE);
	ck_assert_int_eq(rename(aside, record), 0);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.status, 7);
	let_exit(shim);
}
END_TEST

static struct launch *lingering(int64_t id)
{
	struct launch *launch = shell(id, MEET "sleep 1000");

	launch->job.post_result_ms = 1;
	return launch;
}

START_TEST(wind_up)
{
	make_fifos();
	proc_wind_up(w.proc, 1);	/* unknown: nothing happens */
	proc_start(w.proc, lingering(1));
	WAIT_FOR(w.of[1].started);
	wait_up();
	proc_wind_up(w.proc, 1);
	proc_wind_up(w.proc, 1);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.how, EXIT_BY_SIGNAL);
	ck_assert_int_eq(w.of[1].record.status, SIGTERM);
	ck_assert_int_eq(w.of[1].record.by, EXIT_RESULT);
	ck_assert_int_eq(w.of[1].record.sender_pid, 0);
}
END_TEST

/* By a daemon that has found it, and before it is known whether it runs. */
START_TEST(adopt_and_wind_up)
{
	pid_t shim;

	make_fifos();
	proc_start(w.proc, lingering(1));
	WAIT_FOR(w.of[1].started);
	wait_up();
	shim = shim_pid(1);
	close_proc();
	open_proc();
	adopt(1, proc_boot_id());
	proc_wind_up(w.proc, 1);
	expect_found(1, FOUND_RUNNING);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.by, EXIT_RESULT);
	status_of(shim);
}
END_TEST

/* At once after the start, and from inside started(): none is lost, however early. */
START_TEST(end_before_it_runs)
{
	for (int id = 0; id < IDS; id++) {
		w.of[id].end_on_start = id % 2 == 0;
		proc_start(w.proc, shell(id, "sleep 1000"));
		if (id % 2 == 1)
			proc_end(w.proc, id);
	}
	WAIT_FOR(w.reports == 2 * IDS);
	for (int id = 0; id < IDS; id++) {
		ck_assert_int_eq(w.of[id].started, 1);
		ck_assert_int_eq(w.of[id].ended, 1);
		ck_assert(!w.of[id].lost);
		ck_assert_int_eq(w.of[id].record.by, EXIT_TERM);
	}
}
END_TEST

START_TEST(killed_shim_is_lost_and_its_tree_ended)
{
	char path[128], text[32] = { 0 };
	struct pollfd grandchild = { .events = POLLIN };
	int fd;

	make_fifos();
	proc_start(w.proc, shell(1, "setsid sh -c 'trap \"\" TERM; echo $$ > pid; exec 9> up; "
	    "exec 9>&-; sleep 1000' & sleep 1000"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	snprintf(path, sizeof(path), "%s/pid", w.attempts);
	fd = open(path, O_RDONLY);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	grandchild.fd = pidfd_open((pid_t)strtol(text, NULL, 10), 0);
	ck_assert_int_ge(grandchild.fd, 0);
	ck_assert_int_eq(kill(shim_pid(1), SIGKILL), 0);
	WAIT_FOR(w.of[1].ended);
	ck_assert(w.of[1].lost);
	/* dead when it is told, not some time later */
	ck_assert_int_eq(poll(&grandchild, 1, 0), 1);
	close(grandchild.fd);
}
END_TEST

/* Two that carry nothing, of which one is a child of the other: they have come to us, and die
 * before it is told. */
START_TEST(killed_shim_and_a_bare_tree)
{
	char path[128], text[32] = { 0 };
	struct pollfd grandchild = { .events = POLLIN };
	int fd;

	make_fifos();
	proc_start(w.proc, shell(1, "env -i setsid sh -c 'trap \"\" TERM; "
	    "sh -c \"echo \\$\\$ > pid; exec 9> up; exec 9>&-; sleep 1000; :\"; :' & sleep 1000"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	snprintf(path, sizeof(path), "%s/pid", w.attempts);
	fd = open(path, O_RDONLY);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	grandchild.fd = pidfd_open((pid_t)strtol(text, NULL, 10), 0);
	ck_assert_int_ge(grandchild.fd, 0);
	ck_assert_int_eq(kill(shim_pid(1), SIGKILL), 0);
	WAIT_FOR(w.of[1].ended);
	ck_assert(w.of[1].lost);
	ck_assert_int_eq(poll(&grandchild, 1, 0), 1);
	close(grandchild.fd);
}
END_TEST

/* Somebody whom the script in front of the daemon has started is no stray of ours. */
START_TEST(killed_shim_and_a_process_of_a_stranger)
{
	char *argv[] = { (char[]){ "sleep" }, (char[]){ "1000" }, NULL };
	pid_t stranger;

	close_proc();
	ck_assert_int_eq(posix_spawn(&stranger, "/bin/sleep", NULL, NULL, argv, NULL), 0);
	open_proc();
	make_fifos();
	proc_start(w.proc, shell(1, MEET "exit 0"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	ck_assert_int_eq(kill(shim_pid(1), SIGKILL), 0);
	WAIT_FOR(w.of[1].ended);
	ck_assert(w.of[1].lost);
	ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG), 0);
	ck_assert_int_eq(kill(stranger, SIGKILL), 0);
	/* ours dies with its shim, but nobody waits for that among strangers */
	while (waitpid(-1, NULL, 0) > 0)
		;
}
END_TEST

START_TEST(adopt_running)
{
	pid_t shim;

	make_fifos();
	proc_start(w.proc, shell(1, MEET "exit 42"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	shim = shim_pid(1);
	close_proc();
	open_proc();
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_RUNNING);
	ck_assert_int_eq(w.of[1].ended, 0);
	let_go();
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.how, EXIT_BY_CODE);
	ck_assert_int_eq(w.of[1].record.status, 42);
	status_of(shim);
}
END_TEST

START_TEST(adopt_and_end)
{
	pid_t shim;

	make_fifos();
	proc_start(w.proc, shell(1, MEET "exit 42"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	shim = shim_pid(1);
	close_proc();
	open_proc();
	adopt(1, proc_boot_id());
	proc_end(w.proc, 1);	/* before it is known whether it runs */
	expect_found(1, FOUND_RUNNING);
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.by, EXIT_TERM);
	status_of(shim);
}
END_TEST

START_TEST(adopt_ended_meanwhile)
{
	pid_t shim;

	make_fifos();
	proc_start(w.proc, shell(1, MEET "exit 43"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	shim = shim_pid(1);
	close_proc();
	let_go();
	status_of(shim);
	open_proc();
	adopt(1, "another boot");	/* a record is the truth in any boot */
	expect_found(1, FOUND_ENDED);
	ck_assert_int_eq(w.of[1].record.status, 43);
}
END_TEST

START_TEST(adopt_shim_killed_meanwhile)
{
	pid_t shim;

	make_fifos();
	proc_start(w.proc, shell(1, MEET "exit 43"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	shim = shim_pid(1);
	close_proc();
	kill(shim, SIGKILL);
	status_of(shim);
	open_proc();
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_LOST);
	ck_assert_ptr_nonnull(strstr(w.of[1].text, "rl-shim was killed"));
	/* its agent has become our child, and may not have come to its end yet */
	while (waitpid(-1, NULL, 0) > 0)
		;
}
END_TEST

START_TEST(adopt_what_was_never_started)
{
	int dirfd = open_attempt(2), lock;

	adopt(1, proc_boot_id());	/* not even a directory */
	expect_found(1, FOUND_NEVER_STARTED);
	adopt(2, proc_boot_id());	/* a directory */
	expect_found(2, FOUND_NEVER_STARTED);
	lock = lock_take(dirfd);	/* a lock file that nobody holds */
	close(lock);
	w.of[2].found = 0;
	adopt(2, proc_boot_id());
	expect_found(2, FOUND_NEVER_STARTED);
	close(dirfd);
	proc_start(w.proc, shell(2, "exit 9"));		/* and may be started now, elsewhere */
	WAIT_FOR(w.of[2].taken);
	proc_start(w.proc, shell(w.of[2].vacant, "exit 9"));
	WAIT_FOR(w.of[w.of[2].vacant].ended);
	ck_assert_int_eq(w.of[w.of[2].vacant].record.status, 9);
}
END_TEST

/* A directory for a number to come, with all that an attempt leaves behind: it says nothing of the
 * attempt that gets the number. */
START_TEST(adopt_what_a_stranger_has_made)
{
	struct exit_record r = { .how = EXIT_BY_CODE, .started_ms = 1, .ended_ms = 2, .tree_empty = true };
	int dirfd = open_attempt(1), lock;

	ck_assert_int_eq(exit_record_write(dirfd, &r, false), 0);
	adopt_as(1, "of another", proc_boot_id());
	expect_found(1, FOUND_NEVER_STARTED);
	ck_assert_int_eq(unlinkat(dirfd, RECORD_JOB, 0), 0);
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_NEVER_STARTED);
	/* the job is not synced, the record is */
	adopt(1, "another boot");
	expect_found(1, FOUND_ENDED);
	/* one that pretends to run */
	ck_assert_int_eq(unlinkat(dirfd, RECORD_EXIT, 0), 0);
	lock = lock_take(dirfd);
	ck_assert_int_eq(identity_write(dirfd), 0);
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_NEVER_STARTED);
	close(lock);
	close(dirfd);
}
END_TEST

START_TEST(adopt_after_a_reboot)
{
	close(open_attempt(2));
	adopt(1, "another boot");
	expect_found(1, FOUND_LOST);
	adopt(2, "another boot");
	expect_found(2, FOUND_LOST);
	ck_assert_ptr_nonnull(strstr(w.of[2].text, "restarted"));
}
END_TEST

/* An identity whose pid lives but does not hold the lock: the number was given to somebody else. */
START_TEST(adopt_with_a_recycled_pid)
{
	int dirfd = open_attempt(1);

	ck_assert_int_eq(identity_write(dirfd), 0);
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_LOST);
	close(dirfd);
}
END_TEST

START_TEST(adopt_damaged_record)
{
	int dirfd = open_attempt(1);
	pid_t pid = stray(1);

	ck_assert_int_eq(file_write(dirfd, RECORD_EXIT, "rl-exit 1\nhow code\nstatus 0\n", 28, 0600, false), 0);
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_UNREADABLE);
	ck_assert_int_eq(faccessat(dirfd, RECORD_EXIT, F_OK, 0), -1);
	ck_assert_int_eq(faccessat(dirfd, RECORD_EXIT ".bad", F_OK, 0), 0);
	expect_killed(pid);
	close(dirfd);
}
END_TEST

START_TEST(adopt_damaged_identity)
{
	int dirfd = open_attempt(1);

	ck_assert_int_eq(file_write(dirfd, RECORD_SHIM, "rl-shim 1\npid 1\n", 16, 0600, false), 0);
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_UNREADABLE);
	ck_assert_int_eq(faccessat(dirfd, RECORD_SHIM ".bad", F_OK, 0), 0);
	close(dirfd);
}
END_TEST

/* It is not synced: after a power cut its name may be there without its bytes, which
 * is no damage. */
START_TEST(adopt_after_a_power_cut)
{
	int dirfd = open_attempt(1);

	ck_assert_int_eq(file_write(dirfd, RECORD_SHIM, "", 0, 0600, false), 0);
	adopt(1, "another boot");
	expect_found(1, FOUND_LOST);
	ck_assert_ptr_nonnull(strstr(w.of[1].text, "the machine went down before"));
	ck_assert_int_eq(faccessat(dirfd, RECORD_SHIM ".bad", F_OK, 0), -1);
	close(dirfd);
}
END_TEST

START_TEST(adopt_what_is_no_directory)
{
	int dirfd = open(w.attempts, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(file_write(dirfd, "1", "", 0, 0600, false), 0);
	ck_assert_int_eq(symlinkat("/tmp", dirfd, "2"), 0);
	close(open_attempt(3));
	if (geteuid() == 0)
		ck_assert_int_eq(fchownat(dirfd, "3", 65534, 65534, 0), 0);
	adopt(1, proc_boot_id());
	adopt(2, proc_boot_id());
	adopt(3, proc_boot_id());
	expect_found(1, FOUND_UNREADABLE);
	expect_found(2, FOUND_UNREADABLE);
	expect_found(3, geteuid() == 0 ? FOUND_UNREADABLE : FOUND_NEVER_STARTED);
	close(dirfd);
}
END_TEST

START_TEST(adopt_kills_strays_before_it_answers)
{
	int dirfd = open_attempt(1);
	pid_t mine[3];

	make_fifos();
	proc_start(w.proc, shell(2, MEET "exit 5"));
	WAIT_FOR(w.of[2].started);
	wait_up();
	ck_assert_int_eq(identity_write(dirfd), 0);
	for (int i = 0; i < 3; i++)
		mine[i] = stray(1);
	adopt(1, proc_boot_id());
	expect_found(1, FOUND_LOST);
	for (int i = 0; i < 3; i++)
		expect_killed(mine[i]);
	let_go();	/* another attempt lives on */
	WAIT_FOR(w.of[2].ended);
	ck_assert_int_eq(w.of[2].record.how, EXIT_BY_CODE);
	ck_assert_int_eq(w.of[2].record.status, 5);
	close(dirfd);
}
END_TEST

/* The directory is gone and something still runs: it was started, whatever the files say. */
START_TEST(adopt_without_directory_but_with_strays)
{
	pid_t pid = stray(1);

	adopt(1, proc_boot_id());
	expect_found(1, FOUND_LOST);
	expect_killed(pid);
}
END_TEST

/* The mark may lie anywhere in an environment of any size. */
START_TEST(strays_with_a_large_environment)
{
	static const size_t sizes[] = { 16300, 16340, 16360, 16370, 16380, 16382, 16383, 16384, 16385, 100000 };
	size_t n = sizeof(sizes) / sizeof(sizes[0]);
	pid_t pids[sizeof(sizes) / sizeof(sizes[0])];

	for (size_t i = 0; i < n; i++)
		pids[i] = stray_behind(1, sizes[i]);
	ck_assert_int_ge(strays_kill(uuid_of(1)), (int)n);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(WTERMSIG(status_of(pids[i])), SIGKILL);
	ck_assert_int_eq(strays_kill(""), 0);
	ck_assert_int_eq(strays_kill(NULL), 0);
}
END_TEST

static void look_now(int64_t id, bool last, struct inspection *l)
{
	*l = (struct inspection){ .dir = attempt_dir(id), .uuid = uuid_of(id),
	    .boot_id = proc_boot_id(), .last = last };
	inspect(l);
}

START_TEST(held_lock_without_a_name_is_looked_at_again)
{
	int dirfd = open_attempt(1), lock = lock_take(dirfd);
	struct spawned shim;

	make_fifos();
	adopt(1, proc_boot_id());
	for (int i = 0; i < 6; i++)
		uv_run(&w.loop, UV_RUN_ONCE);
	ck_assert_int_eq(w.of[1].found, 0);
	/* now the shim comes up under that very lock */
	struct launch *launch = shell(1, MEET "exit 5");

	ck_assert_int_eq(shim_job_write(dirfd, &launch->job), 0);
	ck_assert_int_eq(spawn_shim(w.shim, attempt_dir(1), lock, launch->envp, launch->job.uuid, 0,
	    &(struct start_limits){ 0 }, &shim), 0);
	close(lock);
	launch_free(launch);
	expect_found(1, FOUND_RUNNING);
	wait_up();
	let_go();
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.status, 5);
	status_of(shim.pid);
	close(shim.pidfd);
	close(dirfd);
}
END_TEST

START_TEST(held_lock_that_is_let_go)
{
	int dirfd = open_attempt(1), lock = lock_take(dirfd);

	adopt(1, proc_boot_id());
	for (int i = 0; i < 6; i++)
		uv_run(&w.loop, UV_RUN_ONCE);
	ck_assert_int_eq(w.of[1].found, 0);
	close(lock);
	expect_found(1, FOUND_NEVER_STARTED);
	close(dirfd);
}
END_TEST

START_TEST(held_lock_for_ever)
{
	int dirfd = open_attempt(1), lock = lock_take(dirfd);
	pid_t pid = stray(1);
	struct inspection l;

	look_now(1, false, &l);
	ck_assert_int_eq(l.result, INSPECTION_AGAIN);
	ck_assert_int_eq(kill(pid, 0), 0);
	look_now(1, true, &l);
	ck_assert_int_eq(l.result, INSPECTION_LOST);
	expect_killed(pid);
	close(lock);
	close(dirfd);
}
END_TEST

/* A lock that cannot be looked at for want of descriptors says nothing about the attempt. */
START_TEST(look_without_descriptors)
{
	int dirfd = open_attempt(1), hoard[64], n = 0;
	struct rlimit few = { 64, 64 };
	struct inspection l;

	ck_assert_int_eq(identity_write(dirfd), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int left = 0; left < 4; left++) {
		while ((hoard[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) != -1)
			n++;
		for (int i = 0; i < left; i++)
			close(hoard[--n]);
		look_now(1, false, &l);
		ck_assert_int_eq(l.pidfd, -1);
		ck_assert_int_eq(l.result, left < 3 ? INSPECTION_BUSY : INSPECTION_LOST);
	}
	while (n > 0)
		close(hoard[--n]);
	close(dirfd);
}
END_TEST

/* From now on opening an attempt's directory fails in this process, as on a bad disk. */
static void break_the_disk(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* One unreadable attempt must not keep all the others waiting: recovery begins when the
 * last one is found. */
START_TEST(look_at_a_bad_disk_comes_to_an_end)
{
	struct inspection l;

	break_the_disk();
	look_now(1, false, &l);
	ck_assert_int_eq(l.result, INSPECTION_AGAIN);
	look_now(1, true, &l);
	ck_assert_int_eq(l.result, INSPECTION_LOST);
	ck_assert_msg(strstr(l.detail, strerror(EIO)) != NULL, "%s", l.detail);
}
END_TEST

START_TEST(close_tells_nothing_and_ends_nothing)
{
	pid_t shim;

	make_fifos();
	proc_start(w.proc, shell(1, MEET "exit 6"));
	WAIT_FOR(w.of[1].started);
	wait_up();
	shim = shim_pid(1);
	proc_start(w.proc, shell(2, "exit 0"));		/* in preparation */
	adopt(3, proc_boot_id());			/* being looked at */
	close_proc();
	ck_assert_int_eq(w.of[2].started + w.of[2].refused + w.of[3].found, 0);
	ck_assert_int_eq(kill(shim, 0), 0);
	open_proc();
	adopt(1, proc_boot_id());
	adopt(2, proc_boot_id());
	expect_found(1, FOUND_RUNNING);
	expect_found(2, FOUND_NEVER_STARTED);
	let_go();
	WAIT_FOR(w.of[1].ended);
	ck_assert_int_eq(w.of[1].record.status, 6);
	status_of(shim);
}
END_TEST

START_TEST(close_while_pausing)
{
	int dirfd = open_attempt(1), lock = lock_take(dirfd);

	adopt(1, proc_boot_id());
	for (int i = 0; i < 3; i++)
		uv_run(&w.loop, UV_RUN_ONCE);
	close_proc();
	ck_assert_int_eq(w.of[1].found, 0);
	close(lock);
	close(dirfd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proc");
	TCase *start = tcase_create("start"), *take_back = tcase_create("adopt"), *end = tcase_create("close");
	SRunner *runner = srunner_create(suite);
	TCase *all[] = { start, take_back, end };
	int failed;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		tcase_add_checked_fixture(all[i], setup, teardown);
		tcase_set_timeout(all[i], 60);
		suite_add_tcase(suite, all[i]);
	}
	tcase_add_test(start, exit_is_told);
	tcase_add_test(start, many_at_once);
	tcase_add_test(start, files_environment_and_limits);
	tcase_add_loop_test(start, placed_agent, 0, (int)(sizeof(placements) / sizeof(placements[0])));
	tcase_add_test(start, placed_agent_is_ended);
	tcase_add_loop_test(start, placed_agent_is_not_seen_to_end, 0, 2);
	tcase_add_loop_test(start, placed_agent_without_a_shim, 0, (int)(sizeof(shimless) / sizeof(shimless[0])));
	tcase_add_loop_test(start, followed_agent_outlives_its_shims, 0, 2);
	tcase_add_loop_test(start, followed_agent_is_ended_without_a_shim, 0, 2);
	tcase_add_test(start, followed_agent_of_a_copy);
	tcase_add_test(start, confinement_is_told);
	tcase_add_test(start, missing_shim_is_refused);
	tcase_add_test(start, missing_place_is_refused);
	tcase_add_test(start, senseless_job_is_refused);
	tcase_add_test(start, directory_is_used_once);
	tcase_add_test(start, directory_that_was_there_is_not_taken);
	tcase_add_test(start, missing_agent_is_told);
	tcase_add_test(start, shim_that_never_came_up);
	tcase_add_test(start, end_while_running);
	tcase_add_test(start, end_of_one_that_has_stopped_its_shim);
	tcase_add_test(start, wall_limit_of_one_that_has_stopped_its_shim);
	tcase_add_test(start, shim_that_does_not_hear_its_end);
	tcase_add_test(start, shim_that_stands_still_at_its_limit);
	tcase_add_test(start, adopted_shim_that_stands_still);
	tcase_add_test(start, shim_that_hangs_at_its_exit);
	tcase_add_test(start, adopted_shim_that_hangs_at_its_exit);
	tcase_add_test(start, shim_that_has_only_its_record_to_write);
	tcase_add_test(start, wind_up);
	tcase_add_test(start, adopt_and_wind_up);
	tcase_add_test(start, end_before_it_runs);
	tcase_add_test(start, killed_shim_is_lost_and_its_tree_ended);
	tcase_add_test(start, killed_shim_and_a_bare_tree);
	tcase_add_test(start, killed_shim_and_a_process_of_a_stranger);
	tcase_add_test(take_back, adopt_running);
	tcase_add_test(take_back, adopt_and_end);
	tcase_add_test(take_back, adopt_ended_meanwhile);
	tcase_add_test(take_back, adopt_shim_killed_meanwhile);
	tcase_add_test(take_back, adopt_what_was_never_started);
	tcase_add_test(take_back, adopt_what_a_stranger_has_made);
	tcase_add_test(take_back, adopt_after_a_reboot);
	tcase_add_test(take_back, adopt_with_a_recycled_pid);
	tcase_add_test(take_back, adopt_damaged_record);
	tcase_add_test(take_back, adopt_damaged_identity);
	tcase_add_test(take_back, adopt_after_a_power_cut);
	tcase_add_test(take_back, adopt_what_is_no_directory);
	tcase_add_test(take_back, adopt_kills_strays_before_it_answers);
	tcase_add_test(take_back, adopt_without_directory_but_with_strays);
	tcase_add_test(take_back, strays_with_a_large_environment);
	tcase_add_test(take_back, held_lock_without_a_name_is_looked_at_again);
	tcase_add_test(take_back, held_lock_that_is_let_go);
	tcase_add_test(take_back, held_lock_for_ever);
	tcase_add_test(take_back, look_without_descriptors);
	tcase_add_test(take_back, look_at_a_bad_disk_comes_to_an_end);
	tcase_add_test(end, close_tells_nothing_and_ends_nothing);
	tcase_add_test(end, close_while_pausing);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
