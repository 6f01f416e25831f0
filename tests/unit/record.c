/* SPDX-License-Identifier: MIT */
/* The attempt directory's files: job, exit record, identity, lock, output segments. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "job/host_refusal.h"
#include "proto/error.h"
#include "record/exit_record.h"
#include "record/far_status.h"
#include "record/host_fault.h"
#include "record/identity.h"
#include "record/layout.h"
#include "record/lock_file.h"
#include "record/output.h"
#include "record/shim_job.h"
#include "scratch.h"

static char dir[64];
static int dirfd_;

static void setup(void)
{
	scratch_make(dir, sizeof(dir), "record");
	dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dirfd_, 0);
}

static void teardown(void)
{
	char command[128];

	close(dirfd_);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static size_t slurp(const char *name, char *out, size_t room)
{
	int fd = openat(dirfd_, name, O_RDONLY);
	ssize_t n;

	ck_assert_msg(fd >= 0, "%s: %s", name, strerror(errno));
	n = read(fd, out, room);
	ck_assert_int_ge(n, 0);
	close(fd);
	return (size_t)n;
}

static void spit(const char *name, const char *data, size_t size)
{
	int fd;

	/* A new file each time: ext4 flushes one that was truncated and written again. */
	unlinkat(dirfd_, name, 0);
	fd = openat(dirfd_, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
}

static bool exists(const char *name)
{
	return faccessat(dirfd_, name, F_OK, 0) == 0;
}

static struct exit_record sample(void)
{
	struct exit_record r = {
		.how = EXIT_NOT_STARTED, .status = ENOENT, .by = EXIT_TERM, .sender_pid = 42, .sender_uid = 1000,
		.started_ms = INT64_C(1790000000123), .ended_ms = INT64_C(1790000000456),
		.stdout_bytes = UINT64_C(1) << 40,
		.stderr_bytes = 7, .dropped = 3, .tree_empty = true, .sandbox = 6, .step = EXIT_STEP_EXEC,
		.signalled_ms = INT64_C(1790000000400), .stdout_signalled = UINT64_C(1) << 40, .stderr_signalled = 5,
		.memory_kills = 3, .memory_max = INT64_C(1) << 33, .refused_forks = 9,
	};
	snprintf(r.error, sizeof(r.error), "exec a\\b\nc: No such file or directory");
	return r;
}

static void write_sample(void)
{
	struct exit_record r = sample();

	ck_assert_int_eq(exit_record_write(dirfd_, &r, true), 0);
}

START_TEST(exit_round_trip)
{
	struct exit_record want = sample(), got;

	ck_assert_int_eq(exit_record_read(dirfd_, &got), -ENOENT);
	write_sample();
	ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
	ck_assert_int_eq(got.how, want.how);
	ck_assert_int_eq(got.status, want.status);
	ck_assert_int_eq(got.by, want.by);
	ck_assert_int_eq(got.sender_pid, want.sender_pid);
	ck_assert_int_eq(got.sender_uid, want.sender_uid);
	ck_assert_int_eq(got.started_ms, want.started_ms);
	ck_assert_int_eq(got.ended_ms, want.ended_ms);
	ck_assert_uint_eq(got.stdout_bytes, want.stdout_bytes);
	ck_assert_uint_eq(got.stderr_bytes, want.stderr_bytes);
	ck_assert_uint_eq(got.dropped, want.dropped);
	ck_assert(got.tree_empty);
	ck_assert_int_eq(got.sandbox, 6);
	ck_assert_int_eq(got.signalled_ms, want.signalled_ms);
	ck_assert_uint_eq(got.stdout_signalled, want.stdout_signalled);
	ck_assert_uint_eq(got.stderr_signalled, want.stderr_signalled);
	ck_assert_str_eq(got.error, want.error);
	ck_assert_int_eq(got.step, want.step);
	ck_assert_int_eq(got.memory_kills, want.memory_kills);
	ck_assert_int_eq(got.memory_max, want.memory_max);
	ck_assert_int_eq(got.refused_forks, want.refused_forks);
	ck_assert(!exists(RECORD_EXIT ".tmp"));
}
END_TEST

START_TEST(exit_of_a_launcher)
{
	struct exit_record r = { .how = EXIT_BY_CODE, .far = EXIT_FAR_UNKNOWN, .cancelled = EXIT_CANCEL_FAILED }, got;

	ck_assert_int_eq(exit_record_write(dirfd_, &r, false), 0);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
	ck_assert_int_eq(got.far, EXIT_FAR_UNKNOWN);
	ck_assert_int_eq(got.cancelled, EXIT_CANCEL_FAILED);
	/* an exit code, and nothing was started */
	r.far = EXIT_FAR_NOT_STARTED;
	ck_assert_int_eq(exit_record_write(dirfd_, &r, false), 0);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
}
END_TEST

static const struct {
	const char *text;
	enum far_found found;
	int status;
	const char *node;
} fars[] = {
	{ "", FAR_EMPTY, 0, "" },
	{ "started u1 n1\n", FAR_STARTED, 0, "n1" },
	{ "started u1 n1\nended u1 0\n", FAR_ENDED, 0, "n1" },
	{ "started u1 n1\nended u1 255\n", FAR_ENDED, 255, "n1" },
	{ "started u1 n1\nended u1 0 signalled\n", FAR_SIGNALLED, 0, "n1" },
	{ "started u1 n1", FAR_DAMAGED, 0, "" },
	{ "started u2 n1\n", FAR_DAMAGED, 0, "" },
	{ "started u1 n1\nended u1 0", FAR_DAMAGED, 0, "n1" },
	{ "started u1 n1\nended u2 0\n", FAR_DAMAGED, 0, "n1" },
	{ "started u1 n1\nended u1 \n", FAR_DAMAGED, 0, "n1" },
	{ "started u1 n1\nended u1 256\n", FAR_DAMAGED, 0, "n1" },
	{ "started u1 n1\nended u1 0 x\n", FAR_DAMAGED, 0, "n1" },
	{ "started u1 n1\nstarted u1 n2\n", FAR_DAMAGED, 0, "n1" },
	{ "started u1 n1\nended u1 0\nended u1 0\n", FAR_DAMAGED, 0, "n1" },
	{ "ended u1 0\n", FAR_DAMAGED, 0, "" },
};

START_TEST(far_of_any_kind)
{
	struct far_status got;

	far_status_read(dirfd_, RECORD_FAR, "u1", &got);
	ck_assert_int_eq(got.found, FAR_DAMAGED);
	spit(RECORD_FAR, fars[_i].text, strlen(fars[_i].text));
	far_status_read(dirfd_, RECORD_FAR, "u1", &got);
	ck_assert_int_eq(got.found, fars[_i].found);
	ck_assert_int_eq(got.status, fars[_i].status);
	ck_assert_str_eq(got.node, fars[_i].node);
}
END_TEST

START_TEST(job_of_a_launcher)
{
	char *argv[] = { (char[]){ "srun" }, NULL }, *cancel[] = { (char[]){ "scancel" }, (char[]){ "x" }, NULL };
	char cwd[] = "/", uuid[] = "u", far[] = RECORD_FAR, path[] = "a/b";
	struct shim_job want = { .argv = argv, .cwd = cwd, .uuid = uuid, .far = far, .cancel = cancel }, got;

	ck_assert_int_eq(shim_job_write(dirfd_, &want), 0);
	ck_assert_int_eq(shim_job_read(dirfd_, &got), 0);
	ck_assert_str_eq(got.far, far);
	ck_assert_str_eq(got.cancel[1], "x");
	shim_job_release(&got);
	want.began_ms = -1;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.began_ms = INT64_MAX;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), 0);
	ck_assert_int_eq(shim_job_read(dirfd_, &got), 0);
	ck_assert_int_eq(got.began_ms, INT64_MAX);
	shim_job_release(&got);
	want.far = path;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.far = NULL;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
}
END_TEST

START_TEST(exit_every_code_and_signal)
{
	struct exit_record r = { .how = EXIT_BY_CODE }, got;

	for (r.status = 0; r.status < 256; r.status++) {
		/* ext4 flushes a file that replaces another */
		unlinkat(dirfd_, RECORD_EXIT, 0);
		ck_assert_int_eq(exit_record_write(dirfd_, &r, false), 0);
		ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
		ck_assert_int_eq(got.status, r.status);
	}
	r.how = EXIT_BY_SIGNAL;
	for (r.status = 1; r.status < 65; r.status++) {
		unlinkat(dirfd_, RECORD_EXIT, 0);
		ck_assert_int_eq(exit_record_write(dirfd_, &r, false), 0);
		ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
		ck_assert_int_eq(got.status, r.status);
	}
}
END_TEST

START_TEST(exit_every_step)
{
	struct exit_record r = { .how = EXIT_NOT_STARTED, .status = ENOENT }, got;

	for (int step = EXIT_STEP_NONE; step < EXIT_STEPS; step++) {
		unlinkat(dirfd_, RECORD_EXIT, 0);
		r.step = (enum exit_step)step;
		ck_assert_int_eq(exit_record_write(dirfd_, &r, false), 0);
		ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
		ck_assert_int_eq(got.step, step);
	}
}
END_TEST

START_TEST(exit_longest_error)
{
	struct exit_record r = sample(), got;

	memset(r.error, '\n', sizeof(r.error) - 1);
	r.error[sizeof(r.error) - 1] = '\0';
	ck_assert_int_eq(exit_record_write(dirfd_, &r, true), 0);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
	ck_assert_str_eq(got.error, r.error);
}
END_TEST

START_TEST(exit_every_prefix_is_refused)
{
	char data[4096];
	struct exit_record got;
	size_t size;

	write_sample();
	size = slurp(RECORD_EXIT, data, sizeof(data));
	for (size_t n = 0; n < size; n++) {
		spit(RECORD_EXIT, data, n);
		ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
	}
	data[size] = '\n';
	spit(RECORD_EXIT, data, size + 1);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
	spit(RECORD_EXIT, data, size);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
}
END_TEST

START_TEST(exit_every_changed_byte_is_refused)
{
	static const unsigned char masks[] = { 0x01, 0x20, 0x80, 0xff };
	char data[4096];
	struct exit_record got;
	size_t size;

	write_sample();
	size = slurp(RECORD_EXIT, data, sizeof(data));
	for (size_t i = 0; i < size; i++) {
		for (size_t m = 0; m < sizeof(masks); m++) {
			data[i] = (char)(data[i] ^ masks[m]);
			spit(RECORD_EXIT, data, size);
			ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
			data[i] = (char)(data[i] ^ masks[m]);
		}
		char was = data[i];

		data[i] = '\0';
		spit(RECORD_EXIT, data, size);
		ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
		data[i] = was;
	}
}
END_TEST

/* FNV-1a, so that lies with a true checksum can be told. */
static void seal_as(const char *name, const char *body, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	char data[8192];

	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)body[i]) * UINT64_C(0x100000001b3);
	memcpy(data, body, size);
	size += (size_t)snprintf(data + size, sizeof(data) - size, "end %016llx\n", (unsigned long long)h);
	spit(name, data, size);
}

static void seal(const char *body, size_t size)
{
	seal_as(RECORD_EXIT, body, size);
}

#define REST \
	"sender_pid 0\nsender_uid 0\nstarted_ms 1\nended_ms 2\nstdout_bytes 0\nstderr_bytes 0\n" \
	    "dropped 0\ntree_empty 1\nerror \n"

static const struct {
	const char *body;
	int want;
} sealed[] = {
	/* as shims wrote it that could not confine */
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST, 0 },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "sandbox 6\n", 0 },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "sandbox -1\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "sandbox \n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "sandbox 6\nsandbox 6\n", -EBADMSG },
	/* no byte was written, so no signal came behind one; and none comes before 1970 */
	{ "rl-exit 1\nhow code\nstatus 0\nby wall\n" REST "signalled_ms 2\n", 0 },
	{ "rl-exit 1\nhow code\nstatus 0\nby wall\n" REST "sandbox 6\nsignalled_ms 2\n", 0 },
	{ "rl-exit 1\nhow code\nstatus 0\nby wall\n" REST "signalled_ms 2\nsandbox 6\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby wall\n" REST "signalled_ms 2\nstdout_signalled 1\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby wall\n" REST "signalled_ms 2\nstderr_signalled -1\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby wall\n" REST "signalled_ms -2\n", -EBADMSG },
	{ "rl-exit 2\nhow code\nstatus 0\nby own\n" REST, -EBADMSG },
	{ "rl-job 1\nhow code\nstatus 0\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 256\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus -1\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow signal\nstatus 0\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow not-started\nstatus 0\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow not-started\nstatus 2\nby own\n" REST "step chdir\n", 0 },
	{ "rl-exit 1\nhow not-started\nstatus 2\nby own\n" REST "step none\n", -EBADMSG },
	{ "rl-exit 1\nhow not-started\nstatus 2\nby own\n" REST "step 8\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "step exec\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "memory_kills 1\n", 0 },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "memory_kills 1\nmemory_max 67108864\nrefused_forks 4\n", 0 },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "memory_max 67108864\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "memory_kills -1\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "refused_forks -1\n", -EBADMSG },
	{ "rl-exit 1\nhow Code\nstatus 0\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0x0\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus \nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus  0\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus +0\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 99999999999999999999\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby nobody\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby result\n" REST, 0 },
	{ "rl-exit 1\nhow code\nby own\nstatus 0\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nstatus 0\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nby own\n" REST, -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "more 1\n", -EBADMSG },
	{ "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "x", -EBADMSG },
	{ "rl-exit 1\n", -EBADMSG },
	{ "", -EBADMSG },
};

START_TEST(exit_with_true_checksum)
{
	struct exit_record got;

	seal(sealed[_i].body, strlen(sealed[_i].body));
	ck_assert_int_eq(exit_record_read(dirfd_, &got), sealed[_i].want);
	if (sealed[_i].want != 0)
		return;
	ck_assert_int_eq(got.sandbox, strstr(sealed[_i].body, "sandbox") != NULL ? 6 : 0);
	ck_assert_int_eq(got.signalled_ms, strstr(sealed[_i].body, "signalled_ms") != NULL ? 2 : 0);
	ck_assert_uint_eq(got.stdout_signalled, 0);
}
END_TEST

/* Without confinement it is to the byte what an rld of before reads. */
START_TEST(exit_as_before)
{
	static const char body[] = "rl-exit 1\nhow code\nstatus 7\nby own\n" REST "end ";
	struct exit_record r = { .how = EXIT_BY_CODE, .status = 7, .started_ms = 1, .ended_ms = 2, .tree_empty = true };
	char data[4096];

	ck_assert_int_eq(exit_record_write(dirfd_, &r, true), 0);
	ck_assert_uint_eq(slurp(RECORD_EXIT, data, sizeof(data)), sizeof(body) - 1 + 17);
	ck_assert_int_eq(memcmp(data, body, sizeof(body) - 1), 0);
}
END_TEST

#define NOT_STARTED(error) \
	"rl-exit 1\nhow not-started\nstatus 2\nby own\nsender_pid 0\nsender_uid 0\nstarted_ms 1\nended_ms 2\n" \
	    "stdout_bytes 0\nstderr_bytes 0\ndropped 0\ntree_empty 1\nerror " error "\n"

/* The sentence counts only in a record that does not name the step. */
static const struct {
	const char *body;
	enum exit_step step;
} steps[] = {
	{ NOT_STARTED("exec /no/such: No such file or directory"), EXIT_STEP_EXEC },
	{ NOT_STARTED("chdir /no/such: No such file or directory"), EXIT_STEP_NONE },
	{ NOT_STARTED("executable: No such file or directory"), EXIT_STEP_NONE },
	{ NOT_STARTED("exec /no/such: No such file or directory") "step exec\n", EXIT_STEP_EXEC },
	{ NOT_STARTED("exec /no/such: No such file or directory") "step chdir\n", EXIT_STEP_CHDIR },
	{ NOT_STARTED("another sentence") "step exec\n", EXIT_STEP_EXEC },
};

START_TEST(exit_step_of_any_version)
{
	struct exit_record got;

	seal(steps[_i].body, strlen(steps[_i].body));
	ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
	ck_assert_int_eq(got.step, steps[_i].step);
}
END_TEST

START_TEST(exit_with_a_nul_behind_good_lines)
{
	static const char body[] = "rl-exit 1\nhow code\nstatus 0\nby own\n" REST "\0more";
	struct exit_record got;

	seal(body, sizeof(body) - 1);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
}
END_TEST

START_TEST(exit_that_is_no_file)
{
	struct exit_record got;
	char big[8192] = "rl-exit 1\n";

	ck_assert_int_eq(mkdirat(dirfd_, RECORD_EXIT, 0700), 0);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
	ck_assert_int_eq(unlinkat(dirfd_, RECORD_EXIT, AT_REMOVEDIR), 0);
	ck_assert_int_eq(symlinkat("/etc/passwd", dirfd_, RECORD_EXIT), 0);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
	ck_assert_int_eq(unlinkat(dirfd_, RECORD_EXIT, 0), 0);
	ck_assert_int_eq(mkfifoat(dirfd_, RECORD_EXIT, 0600), 0);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
	ck_assert_int_eq(unlinkat(dirfd_, RECORD_EXIT, 0), 0);
	spit(RECORD_EXIT, big, sizeof(big));
	ck_assert_int_eq(exit_record_read(dirfd_, &got), -EBADMSG);
}
END_TEST

START_TEST(exit_space_is_reserved_and_used)
{
	struct stat st, used;
	struct exit_record got;

	ck_assert_int_eq(exit_record_reserve(dirfd_), 0);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), -ENOENT);
	ck_assert_int_eq(fstatat(dirfd_, RECORD_EXIT ".tmp", &st, 0), 0);
	ck_assert_int_ge(st.st_blocks * 512, 4096);
	write_sample();
	ck_assert_int_eq(fstatat(dirfd_, RECORD_EXIT, &used, 0), 0);
	ck_assert_uint_eq(used.st_ino, st.st_ino);
	ck_assert_uint_eq(used.st_mode & 0777, 0600);
	ck_assert_int_lt(used.st_size, 4096);
	ck_assert_int_eq(exit_record_read(dirfd_, &got), 0);
}
END_TEST

START_TEST(job_round_trip)
{
	char *argv[] = { (char[]){ "claude" }, (char[]){ "" }, (char[]){ "-p\nline two\\n" },
	    (char[]){ "end 0\n" }, (char[]){ "\xff" }, NULL };
	char cwd[] = "/work dir\n", input[] = "prompt", uuid[] = "0f8f";
	struct shim_job want = {
		.argv = argv, .cwd = cwd, .input = input, .uuid = uuid, .wall_ms = 1, .idle_ms = 2, .grace_ms = 3,
		.output_bytes = INT64_MAX, .nofile = 1024, .umask = 022, .durable = true,
	}, got;

	ck_assert_int_eq(shim_job_write(dirfd_, &want), 0);
	ck_assert_int_eq(shim_job_read(dirfd_, &got), 0);
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(got.argv[i], argv[i]);
	ck_assert_ptr_null(got.argv[5]);
	ck_assert_str_eq(got.cwd, cwd);
	ck_assert_str_eq(got.input, input);
	ck_assert_str_eq(got.uuid, uuid);
	ck_assert_int_eq(got.wall_ms, 1);
	ck_assert_int_eq(got.idle_ms, 2);
	ck_assert_int_eq(got.grace_ms, 3);
	ck_assert_int_eq(got.output_bytes, INT64_MAX);
	ck_assert_int_eq(got.nofile, 1024);
	ck_assert_int_eq(got.umask, 022);
	ck_assert(got.durable);
	shim_job_release(&got);
	want.input = NULL;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), 0);
	ck_assert_int_eq(shim_job_read(dirfd_, &got), 0);
	ck_assert_ptr_null(got.input);
	shim_job_release(&got);
}
END_TEST

START_TEST(job_that_is_confined)
{
	char *argv[] = { (char[]){ "x" }, NULL }, cwd[] = "/", uuid[] = "u";
	char *writable[] = { (char[]){ "/tmp/a b" }, (char[]){ "/h/.c\n" }, NULL },
	    *relative[] = { (char[]){ "/x" }, (char[]){ "x" }, NULL };
	struct shim_job want = { .argv = argv, .cwd = cwd, .uuid = uuid, .sandbox = JOB_REQUIRE,
	    .writable = writable }, got;

	ck_assert_int_eq(shim_job_write(dirfd_, &want), 0);
	ck_assert_int_eq(shim_job_read(dirfd_, &got), 0);
	ck_assert_int_eq(got.sandbox, JOB_REQUIRE);
	ck_assert_str_eq(got.writable[0], writable[0]);
	ck_assert_str_eq(got.writable[1], writable[1]);
	ck_assert_ptr_null(got.writable[2]);
	shim_job_release(&got);
	want.writable = NULL;
	want.sandbox = JOB_TRY;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), 0);
	ck_assert_int_eq(shim_job_read(dirfd_, &got), 0);
	ck_assert_int_eq(got.sandbox, JOB_TRY);
	ck_assert_ptr_null(got.writable);
	shim_job_release(&got);
	want.writable = relative;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.writable = NULL;
	want.sandbox = JOB_REQUIRE + 1;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.sandbox = -1;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.sandbox = JOB_OPEN;
	want.post_result_ms = -1;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.post_result_ms = 0;
	want.marks_signal = 2;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.marks_signal = 0;
	want.names_step = 2;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.names_step = 0;
	want.tells_limits = 2;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.tells_limits = 0;
	want.syncs_work = 2;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
	want.syncs_work = 0;
	want.idle_stdout = 2;
	ck_assert_int_eq(shim_job_write(dirfd_, &want), -EINVAL);
}
END_TEST

#define JOB \
	"rl-job 1\nargv x\ncwd /\nuuid u\nwall_ms 0\nidle_ms 0\ngrace_ms 0\noutput_bytes 0\n" \
	    "nofile 0\numask 18\ndurable 0\n"

/* What an rld writes that knows nothing of confinement, and lies. */
static const struct {
	const char *body;
	int want, sandbox, post_result_ms, marks_signal;
} jobs[] = {
	{ JOB, 0, JOB_OPEN, 0, 0 },
	{ JOB "marks_signal 1\n", 0, JOB_OPEN, 0, 1 },
	{ JOB "post_result_ms 1\nmarks_signal 1\n", 0, JOB_OPEN, 1, 1 },
	{ JOB "marks_signal 1\npost_result_ms 1\n", -EBADMSG, 0, 0, 0 },
	{ JOB "marks_signal 2\n", -EBADMSG, 0, 0, 0 },
	{ JOB "names_step 1\n", 0, JOB_OPEN, 0, 0 },
	{ JOB "marks_signal 1\nnames_step 1\n", 0, JOB_OPEN, 0, 1 },
	{ JOB "names_step 1\nmarks_signal 1\n", -EBADMSG, 0, 0, 0 },
	{ JOB "names_step -1\n", -EBADMSG, 0, 0, 0 },
	{ JOB "names_step 1\nsyncs_work 1\n", 0, JOB_OPEN, 0, 0 },
	{ JOB "syncs_work 1\nnames_step 1\n", -EBADMSG, 0, 0, 0 },
	{ JOB "syncs_work 2\n", -EBADMSG, 0, 0, 0 },
	{ JOB "idle_stdout 1\nmarks_signal 1\n", 0, JOB_OPEN, 0, 1 },
	{ JOB "tells_limits 1\n", 0, JOB_OPEN, 0, 0 },
	{ JOB "tells_limits 2\n", -EBADMSG, 0, 0, 0 },
	{ JOB "marks_signal 1\nidle_stdout 1\n", -EBADMSG, 0, 0, 0 },
	{ JOB "post_result_ms 30000\n", 0, JOB_OPEN, 30000, 0 },
	{ JOB "sandbox 1\nwritable /a\npost_result_ms 1\n", 0, JOB_TRY, 1, 0 },
	{ JOB "post_result_ms -1\n", -EBADMSG, 0, 0, 0 },
	{ JOB "post_result_ms 2147483648\n", -EBADMSG, 0, 0, 0 },
	{ JOB "post_result_ms 1\nsandbox 1\n", -EBADMSG, 0, 0, 0 },
	{ JOB "sandbox 1\n", 0, JOB_TRY, 0, 0 },
	{ JOB "sandbox 2\nwritable /a\nwritable /b\n", 0, JOB_REQUIRE, 0, 0 },
	{ JOB "sandbox 3\n", -EBADMSG, 0, 0, 0 },
	{ JOB "sandbox try\n", -EBADMSG, 0, 0, 0 },
	{ JOB "sandbox 1\nwritable a\n", -EBADMSG, 0, 0, 0 },
	{ JOB "writable /a\nsandbox 1\n", -EBADMSG, 0, 0, 0 },
	{ JOB "sandbox 1\nconfined 1\n", -EBADMSG, 0, 0, 0 },
};

START_TEST(job_with_true_checksum)
{
	struct shim_job got;

	seal_as(RECORD_JOB, jobs[_i].body, strlen(jobs[_i].body));
	ck_assert_int_eq(shim_job_read(dirfd_, &got), jobs[_i].want);
	ck_assert_int_eq(got.sandbox, jobs[_i].sandbox);
	ck_assert_int_eq(got.post_result_ms, jobs[_i].post_result_ms);
	ck_assert_int_eq(got.marks_signal, jobs[_i].marks_signal);
	ck_assert_int_eq(got.names_step, jobs[_i].want == 0 && strstr(jobs[_i].body, "names_step") != NULL);
	ck_assert_int_eq(got.syncs_work, jobs[_i].want == 0 && strstr(jobs[_i].body, "syncs_work") != NULL);
	ck_assert_int_eq(got.idle_stdout, jobs[_i].want == 0 && strstr(jobs[_i].body, "idle_stdout") != NULL);
	shim_job_release(&got);
}
END_TEST

/* Without confinement it is to the byte what a shim of before reads. */
START_TEST(job_as_before)
{
	char *argv[] = { (char[]){ "x" }, NULL }, cwd[] = "/", uuid[] = "u", data[4096];
	struct shim_job job = { .argv = argv, .cwd = cwd, .uuid = uuid, .umask = 022 };
	static const char body[] = JOB "end ";

	ck_assert_int_eq(shim_job_write(dirfd_, &job), 0);
	ck_assert_uint_eq(slurp(RECORD_JOB, data, sizeof(data)), sizeof(body) - 1 + 17);
	ck_assert_int_eq(memcmp(data, body, sizeof(body) - 1), 0);
}
END_TEST

START_TEST(job_with_long_arguments)
{
	size_t size = 120 * 1024;
	char *big = malloc(size + 1), cwd[] = "/", uuid[] = "u";
	char *argv[] = { big, big, big, NULL };
	struct shim_job want = { .argv = argv, .cwd = cwd, .uuid = uuid }, got;

	memset(big, '\n', size);
	big[size] = '\0';
	ck_assert_int_eq(shim_job_write(dirfd_, &want), 0);
	ck_assert_int_eq(shim_job_read(dirfd_, &got), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_str_eq(got.argv[i], big);
	shim_job_release(&got);
	free(big);
}
END_TEST

START_TEST(job_that_makes_no_sense)
{
	char *argv[] = { (char[]){ "x" }, NULL }, cwd[] = "/", relative[] = "here", uuid[] = "u";
	struct shim_job job = { .argv = argv, .cwd = cwd, .uuid = uuid };

	ck_assert_int_eq(shim_job_write(dirfd_, &job), 0);
	job.cwd = relative;
	ck_assert_int_eq(shim_job_write(dirfd_, &job), -EINVAL);
	job.cwd = cwd;
	job.uuid = NULL;
	ck_assert_int_eq(shim_job_write(dirfd_, &job), -EINVAL);
	job.uuid = uuid;
	job.wall_ms = -1;
	ck_assert_int_eq(shim_job_write(dirfd_, &job), -EINVAL);
	job.wall_ms = 0;
	job.argv = NULL;
	ck_assert_int_eq(shim_job_write(dirfd_, &job), -EINVAL);
}
END_TEST

START_TEST(job_every_prefix_is_refused)
{
	char *argv[] = { (char[]){ "a" }, (char[]){ "b\n" }, NULL }, cwd[] = "/", uuid[] = "u", data[4096];
	struct shim_job job = { .argv = argv, .cwd = cwd, .uuid = uuid }, got;
	size_t size;

	ck_assert_int_eq(shim_job_read(dirfd_, &got), -ENOENT);
	ck_assert_int_eq(shim_job_write(dirfd_, &job), 0);
	size = slurp(RECORD_JOB, data, sizeof(data));
	for (size_t n = 0; n < size; n++) {
		spit(RECORD_JOB, data, n);
		ck_assert_int_eq(shim_job_read(dirfd_, &got), -EBADMSG);
		ck_assert_ptr_null(got.argv);
	}
}
END_TEST

START_TEST(identity_is_ours)
{
	struct identity got;
	char boot[BOOT_ID];

	ck_assert_int_eq(identity_read(dirfd_, &got), -ENOENT);
	ck_assert_int_eq(identity_write(dirfd_), 0);
	ck_assert_int_eq(identity_read(dirfd_, &got), 0);
	ck_assert_int_eq(boot_id_read(boot), 0);
	ck_assert_int_eq(got.pid, getpid());
	ck_assert_str_eq(got.boot_id, boot);
	ck_assert_str_eq(got.version, RLD_VERSION);
	spit(RECORD_SHIM, "rl-shim 1\n", 10);
	ck_assert_int_eq(identity_read(dirfd_, &got), -EBADMSG);
}
END_TEST

START_TEST(lock_is_seen_and_lasts)
{
	int fd, copy;

	ck_assert_int_eq(lock_held(dirfd_), 0);
	fd = lock_take(dirfd_);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(lock_held(dirfd_), 1);
	ck_assert_int_eq(lock_take(dirfd_), -EWOULDBLOCK);
	copy = dup(fd);		/* as the shim's: it keeps the lock when ours is closed */
	close(fd);
	ck_assert_int_eq(lock_held(dirfd_), 1);
	close(copy);
	ck_assert_int_eq(lock_held(dirfd_), 0);
}
END_TEST

/* Byte at an offset of the test stream. */
static unsigned char byte_at(uint64_t offset)
{
	return (unsigned char)(offset * 31 + offset / 251);
}

static void write_stream(struct output_writer *w, uint64_t from, uint64_t to, size_t step)
{
	unsigned char block[70000];

	while (from < to) {
		size_t n = to - from < step ? (size_t)(to - from) : step;

		for (size_t i = 0; i < n; i++)
			block[i] = byte_at(from + i);
		ck_assert_int_eq(output_write(w, block, n), 0);
		from += n;
	}
}

/* Read the whole stream with a buffer of room; counts kept bytes and adds up the gaps. */
static uint64_t read_stream(size_t room, uint64_t *kept)
{
	unsigned char *buffer = malloc(room);
	struct output_chunk chunk;
	uint64_t offset = 0, dropped = 0;

	*kept = 0;
	for (;;) {
		ck_assert_int_eq(output_read(dirfd_, "stdout", offset, buffer, room, &chunk), 0);
		ck_assert_uint_eq(chunk.dropped, chunk.offset - offset);
		for (size_t i = 0; i < chunk.size; i++)
			if (buffer[i] != byte_at(chunk.offset + i))
				ck_abort_msg("byte %llu is wrong", (unsigned long long)(chunk.offset + i));
		dropped += chunk.dropped;
		*kept += chunk.size;
		offset = chunk.offset + chunk.size;
		if (chunk.size == 0)
			break;
	}
	ck_assert_uint_eq(offset, chunk.end);
	free(buffer);
	return dropped;
}

static const struct {
	int64_t keep;
	uint64_t size;
	size_t step, room;
} streams[] = {
	{ 0, 0, 1, 100 },
	{ 0, 300000, 65536, 4096 },
	{ 0, 1000, 1, 7 },
	{ 1000, 1000, 13, 100 },
	{ 1000, 1001, 13, 100 },
	{ 1, 500000, 65536, 65536 },
	{ 2, 200000, 999, 1000 },
	{ 65537, 65537, 4096, 1000000 },
	/* the newest segment alone is one byte short of the tail */
	{ 131072, 262143, 4096, 65536 },
	{ 131072, 262144, 4096, 65536 },
	{ 1 << 20, 1 << 20, 65536, 65536 },
	{ 1 << 20, 10 << 20, 65536, 100000 },
	{ (1 << 20) + 1, (5 << 20) + 3, 69999, 65536 },
	{ 3000000, 9000001, 50001, 123456 },
};

START_TEST(output_keeps_head_and_tail)
{
	uint64_t size = streams[_i].size, kept, dropped, keep = (uint64_t)streams[_i].keep;
	struct output_writer *w = output_writer_new(dirfd_, "stdout", streams[_i].keep);
	struct output_chunk chunk;
	char byte;

	write_stream(w, 0, size, streams[_i].step);
	dropped = read_stream(streams[_i].room, &kept);
	ck_assert_uint_eq(output_written(w), size);
	ck_assert_uint_eq(output_dropped(w), dropped);
	ck_assert_uint_eq(kept + dropped, size);
	if (keep == 0 || size <= keep) {
		ck_assert_uint_eq(dropped, 0);
	} else {
		uint64_t segment = keep / 16 > 65536 ? keep / 16 : 65536;

		ck_assert_uint_ge(kept, keep);
		ck_assert_uint_le(kept, keep + segment);
		/* the first and the last of what is promised */
		ck_assert_int_eq(output_read(dirfd_, "stdout", keep / 2 > 0 ? keep / 2 - 1 : 0, &byte, 1, &chunk), 0);
		ck_assert_uint_eq(chunk.dropped, 0);
		if (keep / 2 > 0) {
			ck_assert_int_eq(output_read(dirfd_, "stdout", size - keep / 2, &byte, 1, &chunk), 0);
			ck_assert_uint_eq(chunk.dropped, 0);
			ck_assert_uint_eq(chunk.size, 1);
		}
	}
	output_writer_free(w);
}
END_TEST

START_TEST(output_grows_under_its_reader)
{
	struct output_writer *w = output_writer_new(dirfd_, "stdout", 100000);
	struct output_chunk chunk;
	unsigned char buffer[1000];
	uint64_t offset = 0;

	for (uint64_t at = 0; at < 1000000; at += 777) {
		write_stream(w, at, at + 777, 777);
		ck_assert_int_eq(output_read(dirfd_, "stdout", offset, buffer, sizeof(buffer), &chunk), 0);
		ck_assert_uint_eq(chunk.offset, offset);
		ck_assert_uint_eq(chunk.size, 777);
		ck_assert_uint_eq(chunk.end, at + 777);
		for (size_t i = 0; i < chunk.size; i++)
			ck_assert_uint_eq(buffer[i], byte_at(offset + i));
		offset += chunk.size;
	}
	output_writer_free(w);
}
END_TEST

/* Past the gap of what was dropped, and with nothing written. */
START_TEST(output_ends_where_it_was_written_last)
{
	struct output_writer *w = output_writer_new(dirfd_, "stdout", 1000);
	uint64_t end = 77;
	int64_t modified = -1;
	struct timespec now;

	ck_assert_int_eq(output_end(dirfd_, "stdout", &end, &modified), 0);
	ck_assert_uint_eq(end, 77);
	ck_assert_int_eq(modified, -1);
	write_stream(w, 0, 1000000, 777);
	ck_assert_int_eq(output_end(dirfd_, "stdout", &end, &modified), 0);
	ck_assert_uint_eq(end, 1000000);
	clock_gettime(CLOCK_REALTIME, &now);
	/* files have a coarser clock */
	ck_assert_int_le(modified, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
	ck_assert_int_ge(modified, (int64_t)now.tv_sec * 1000 - 60000);
	ck_assert_int_eq(output_end(-1, "stdout", &end, &modified), -EBADF);
	output_writer_free(w);
}
END_TEST

START_TEST(output_beyond_the_end)
{
	struct output_writer *w = output_writer_new(dirfd_, "stdout", 0);
	struct output_chunk chunk;
	char buffer[10];

	ck_assert_int_eq(output_read(dirfd_, "stdout", 5, buffer, sizeof(buffer), &chunk), 0);
	ck_assert_uint_eq(chunk.size + chunk.end + chunk.dropped, 0);
	ck_assert_uint_eq(chunk.offset, 5);
	write_stream(w, 0, 3, 3);
	ck_assert_int_eq(output_read(dirfd_, "stdout", 5, buffer, sizeof(buffer), &chunk), 0);
	ck_assert_uint_eq(chunk.size + chunk.dropped, 0);
	ck_assert_uint_eq(chunk.offset, 5);
	ck_assert_uint_eq(chunk.end, 3);
	ck_assert_int_eq(output_read(dirfd_, "stdout", INT64_MAX, buffer, sizeof(buffer), &chunk), 0);
	ck_assert_uint_eq(chunk.size + chunk.dropped, 0);
	ck_assert_uint_eq(chunk.offset, INT64_MAX);
	ck_assert_uint_eq(chunk.end, 3);
	ck_assert_int_eq(output_read(dirfd_, "stdout", 0, buffer, 0, &chunk), 0);
	ck_assert_uint_eq(chunk.size, 0);
	ck_assert_uint_eq(chunk.end, 3);
	output_writer_free(w);
}
END_TEST

START_TEST(output_streams_do_not_mix)
{
	struct output_writer *w = output_writer_new(dirfd_, "stdout", 0);
	struct output_chunk chunk;
	char buffer[10];

	spit("stderr.0000000000000000", "e", 1);
	spit("stdout.0000000000000000x", "no", 2);
	spit("stdout.000000000000000A", "no", 2);
	spit("stdout.1", "no", 2);
	spit("stdoutx.0000000000000000", "no", 2);
	write_stream(w, 0, 3, 3);
	ck_assert_int_eq(output_read(dirfd_, "stdout", 0, buffer, sizeof(buffer), &chunk), 0);
	ck_assert_uint_eq(chunk.size, 3);
	ck_assert_uint_eq(chunk.end, 3);
	output_writer_free(w);
}
END_TEST

START_TEST(output_as_a_whole)
{
	struct output_writer *w = output_writer_new(dirfd_, "stdout", 1 << 20), *capped;
	char *data;
	size_t size;

	ck_assert_int_eq(output_read_all(dirfd_, "stdout", SIZE_MAX, &data, &size), 0);
	ck_assert_uint_eq(size, 0);
	ck_assert_str_eq(data, "");
	free(data);
	write_stream(w, 0, 200000, 777);
	ck_assert_int_eq(output_read_all(dirfd_, "stdout", SIZE_MAX, &data, &size), 0);
	ck_assert_uint_eq(size, 200000);
	for (size_t i = 0; i < size; i++)
		ck_assert_int_eq((unsigned char)data[i], byte_at(i));
	ck_assert_int_eq(data[size], '\0');
	free(data);
	ck_assert_int_eq(output_read_all(dirfd_, "stdout", 10, &data, &size), 0);
	ck_assert_uint_eq(size, 10);
	ck_assert_int_eq(data[10], '\0');
	free(data);
	output_writer_free(w);
	capped = output_writer_new(dirfd_, "stderr", 1000);
	write_stream(capped, 0, 1000000, 777);
	ck_assert_int_eq(output_read_all(dirfd_, "stderr", 100, &data, &size), 0);
	free(data);
	ck_assert_int_eq(output_read_all(dirfd_, "stderr", SIZE_MAX, &data, &size), -ENODATA);
	ck_assert_ptr_null(data);
	ck_assert_int_eq(output_read_all(-1, "stdout", 10, &data, &size), -EBADF);
	output_writer_free(capped);
}
END_TEST

/* What the host refuses for a while stays in memory, as far as there is room, and comes first when
 * it does not any more. */
START_TEST(output_waits_for_the_host)
{
	struct output_writer *w = output_writer_new(dirfd_, "stdout", 0);
	struct rlimit few = { .rlim_cur = 3 }, before;
	char *block = malloc(300000), *data;
	size_t size;

	for (size_t i = 0; i < 300000; i++)
		block[i] = (char)byte_at(i);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(output_write(w, block, 1000), -EMFILE);
	ck_assert_int_eq(output_write(w, block + 1000, 500), -EMFILE);
	ck_assert_int_eq(output_flush(w), -EMFILE);
	ck_assert_uint_eq(output_written(w), 1500);
	ck_assert_uint_eq(output_dropped(w), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(output_write(w, block + 1500, 500), 0);
	ck_assert_int_eq(output_flush(w), 0);
	ck_assert_int_eq(output_read_all(dirfd_, "stdout", SIZE_MAX, &data, &size), 0);
	ck_assert_uint_eq(size, 2000);
	ck_assert_int_eq(memcmp(data, block, size), 0);
	free(data);
	output_writer_free(w);
	/* of more than there is room for, the end */
	w = output_writer_new(dirfd_, "stderr", 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(output_write(w, block, 200000), -EMFILE);
	ck_assert_int_eq(output_write(w, block + 200000, 100000), -EMFILE);
	ck_assert_uint_eq(output_written(w), 300000);
	ck_assert_uint_eq(output_dropped(w), 300000 - 262144);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(output_flush(w), 0);
	data = malloc(300000);
	{
		struct output_chunk chunk;

		ck_assert_int_eq(output_read(dirfd_, "stderr", 0, data, 300000, &chunk), 0);
		ck_assert_uint_eq(chunk.offset, 300000 - 262144);
		ck_assert_uint_eq(chunk.size, 262144);
		ck_assert_int_eq(memcmp(data, block + chunk.offset, chunk.size), 0);
	}
	free(data);
	/* what is given up is missing, and told */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	output_writer_free(w);
	w = output_writer_new(dirfd_, "other", 0);
	ck_assert_int_eq(output_write(w, block, 10), -EMFILE);
	output_give_up(w);
	ck_assert_uint_eq(output_dropped(w), 10);
	ck_assert_int_eq(output_flush(w), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	output_writer_free(w);
	free(block);
}
END_TEST

static void leave_record(uint64_t out, uint64_t err, uint64_t dropped)
{
	const struct exit_record record = { .how = EXIT_BY_CODE, .stdout_bytes = out,
	    .stderr_bytes = err, .dropped = dropped, .tree_empty = true };

	unlinkat(dirfd_, "exit", 0);
	ck_assert_int_eq(exit_record_write(dirfd_, &record, false), 0);
}

/* What the record does not vouch for byte by byte is no output. */
START_TEST(output_is_vouched_for)
{
	ck_assert_int_eq(output_vouched(dirfd_, 0), -ENOENT);
	leave_record(0, 0, 0);
	ck_assert_int_eq(output_vouched(dirfd_, 0), 0);
	spit("stdout.0000000000000000", "0123456789", 10);
	ck_assert_int_eq(output_vouched(dirfd_, 0), -ENODATA);
	leave_record(10, 0, 0);
	ck_assert_int_eq(output_vouched(dirfd_, 0), 0);
	leave_record(10, 0, 1);
	ck_assert_int_eq(output_vouched(dirfd_, 0), -ENODATA);
	leave_record(11, 0, 0);
	ck_assert_int_eq(output_vouched(dirfd_, 0), -ENODATA);
	leave_record(10, 1, 0);
	ck_assert_int_eq(output_vouched(dirfd_, 0), -ENODATA);
	/* the middle is gone, and the end is there */
	spit("stdout.000000000000000c", "cdef", 4);
	leave_record(16, 0, 2);
	ck_assert_int_eq(output_vouched(dirfd_, 0), -ENODATA);
	ck_assert_int_eq(output_vouched(dirfd_, 100), -ENODATA);
	/* with a cap that is how it is, as far as head and tail are there */
	ck_assert_int_eq(output_vouched(dirfd_, 8), 0);
	ck_assert_int_eq(output_vouched(dirfd_, 10), -ENODATA);
	spit("exit", "no record", 9);
	ck_assert_int_eq(output_vouched(dirfd_, 0), -EBADMSG);
	ck_assert_int_eq(output_vouched(-1, 0), -EBADF);
}
END_TEST

static const struct {
	const char *text;
	bool last_only;
	int fault;
} words[] = {
	{ "", false, 0 },
	{ "fatal: it did not work", false, 0 },
	{ "error: x: No space left on device", false, ENOSPC },
	{ "error: x: No space left on device\nfatal: unable to write new index file\n", false, ENOSPC },
	{ "error: x: No space left on device\nfatal: unable to write new index file\n", true, 0 },
	{ "a hook says: no\nerror: x: Disk quota exceeded\r\n\n", true, EDQUOT },
	{ "x: Too many open files", true, EMFILE },
	{ "x: Too many open files in system", true, ENFILE },
	{ "fork: Resource temporarily unavailable", false, EAGAIN },
	{ "mmap failed: Cannot allocate memory", false, ENOMEM },
	{ "open: Interrupted system call", false, EINTR },
	{ "read error: Input/output error", false, EIO },
	{ "No space left on device: the file of that name is damaged", false, 0 },
	{ "fatal: sha1 file 'index.lock' write error. Out of diskspace\n", false, ENOSPC },
	{ "error: open(\"x\"): Permission denied", false, 0 },
};

START_TEST(host_faults)
{
	static const int others[] = { 0, ENOENT, EACCES, EROFS, EPERM, EINVAL, ENOTDIR, ECHILD, EFBIG };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		ck_assert_msg(host_fault_said(words[i].text, words[i].last_only) == words[i].fault,
		    "%s", words[i].text);
		if (words[i].fault != 0) {
			ck_assert(host_fault(words[i].fault));
			ck_assert_str_eq(host_words(words[i].fault), strerror(words[i].fault));
			ck_assert_int_eq(host_noted(), words[i].fault);
			ck_assert_str_ne(host_fault_remedy(words[i].fault), host_fault_remedy(ENOENT));
			ck_assert_ptr_nonnull(strstr(host_refusal_hint(words[i].fault, "x"),
			    host_fault_remedy(words[i].fault)));
			ck_assert_int_ne(host_refusal_code(words[i].fault, RPC_INVALID_PARAMS), RPC_INVALID_PARAMS);
		}
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert(!host_fault(others[i]));
		ck_assert_int_eq(host_refusal_code(others[i], RPC_NOT_FOUND), RPC_NOT_FOUND);
		ck_assert_str_eq(host_refusal_hint(others[i], "x"), "x");
		host_words(others[i]);
		ck_assert_int_eq(host_noted(), 0);
	}
	ck_assert_str_eq(host_fault_name(ENOSPC), "ENOSPC");
	ck_assert_int_eq(host_refusal_code(EMFILE, RPC_OK), RPC_BUSY);
	ck_assert_int_eq(host_refusal_code(EDQUOT, RPC_OK), RPC_NO_SPACE);
	ck_assert_int_eq(host_refusal_code(EIO, RPC_OK), RPC_UNAVAILABLE);
}
END_TEST

/* A disk that refuses a while: the offsets behind the gap are true, and the gap is counted. */
static const struct {
	int64_t keep;
	rlim_t limit;		/* of a file: the write at 1000 gets 500 bytes in and fails */
	uint64_t dropped;	/* in the end: the cap takes the segment before the gap as well */
} errors[] = { { 0, 1500, 500 }, { 1 << 20, 1500, 500 }, { 2000, 500, 1000 } };

START_TEST(output_goes_on_after_an_error)
{
	struct output_writer *w = output_writer_new(dirfd_, "stdout", errors[_i].keep);
	struct rlimit small = { .rlim_cur = errors[_i].limit, .rlim_max = RLIM_INFINITY },
	    none = { RLIM_INFINITY, RLIM_INFINITY };
	char block[1000];
	uint64_t kept;

	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (char)byte_at(1000 + i);
	write_stream(w, 0, 1000, 1000);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_int_eq(output_write(w, block, sizeof(block)), -EFBIG);
	ck_assert_uint_eq(output_written(w), 2000);
	ck_assert_uint_eq(output_dropped(w), 500);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	write_stream(w, 2000, 3000, 1000);
	ck_assert_uint_eq(read_stream(100, &kept), errors[_i].dropped);
	ck_assert_uint_eq(kept, 3000 - errors[_i].dropped);
	ck_assert_uint_eq(output_dropped(w), errors[_i].dropped);
	output_writer_free(w);
}
END_TEST

/* A directory that takes no file at all leaves nothing, and nothing stops. */
START_TEST(output_without_a_directory)
{
	struct output_writer *w = output_writer_new(-1, "stdout", 0);

	ck_assert_int_eq(output_write(w, "lost", 4), -EBADF);
	ck_assert_uint_eq(output_written(w), 4);
	ck_assert_uint_eq(output_dropped(w), 4);
	output_writer_free(w);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *files = tcase_create("files"), *output = tcase_create("output");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(files, setup, teardown);
	tcase_set_timeout(files, 60);
	tcase_add_test(files, exit_round_trip);
	tcase_add_test(files, exit_of_a_launcher);
	tcase_add_loop_test(files, far_of_any_kind, 0, (int)(sizeof(fars) / sizeof(fars[0])));
	tcase_add_test(files, job_of_a_launcher);
	tcase_add_test(files, exit_every_code_and_signal);
	tcase_add_test(files, exit_every_step);
	tcase_add_test(files, exit_longest_error);
	tcase_add_test(files, exit_every_prefix_is_refused);
	tcase_add_test(files, exit_every_changed_byte_is_refused);
	tcase_add_loop_test(files, exit_with_true_checksum, 0, sizeof(sealed) / sizeof(sealed[0]));
	tcase_add_loop_test(files, exit_step_of_any_version, 0, sizeof(steps) / sizeof(steps[0]));
	tcase_add_test(files, exit_as_before);
	tcase_add_test(files, exit_with_a_nul_behind_good_lines);
	tcase_add_test(files, exit_that_is_no_file);
	tcase_add_test(files, exit_space_is_reserved_and_used);
	tcase_add_test(files, job_round_trip);
	tcase_add_test(files, job_that_is_confined);
	tcase_add_loop_test(files, job_with_true_checksum, 0, sizeof(jobs) / sizeof(jobs[0]));
	tcase_add_test(files, job_as_before);
	tcase_add_test(files, job_with_long_arguments);
	tcase_add_test(files, job_that_makes_no_sense);
	tcase_add_test(files, job_every_prefix_is_refused);
	tcase_add_test(files, identity_is_ours);
	tcase_add_test(files, lock_is_seen_and_lasts);
	suite_add_tcase(suite, files);
	tcase_add_checked_fixture(output, setup, teardown);
	tcase_set_timeout(output, 60);
	tcase_add_loop_test(output, output_keeps_head_and_tail, 0, sizeof(streams) / sizeof(streams[0]));
	tcase_add_test(output, output_grows_under_its_reader);
	tcase_add_test(output, output_ends_where_it_was_written_last);
	tcase_add_test(output, output_beyond_the_end);
	tcase_add_test(output, output_streams_do_not_mix);
	tcase_add_test(output, output_as_a_whole);
	tcase_add_test(output, output_is_vouched_for);
	tcase_add_test(output, output_waits_for_the_host);
	tcase_add_test(files, host_faults);
	tcase_add_loop_test(output, output_goes_on_after_an_error, 0, sizeof(errors) / sizeof(errors[0]));
	tcase_add_test(output, output_without_a_directory);
	suite_add_tcase(suite, output);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
