/* SPDX-License-Identifier: MIT */
/* The host as seen by the daemon: its directories, the programs it starts, the kernel, the clock,
 * leftovers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "base/credentials.h"
#include "proc/strays.h"
#include "proc/version_probe.h"
#include "proto/memory.h"
#include "proto/program.h"
#include "proto/units.h"
#include "record/layout.h"
#include "rpc/doctor.h"

#define GIT_MAJOR 2
#define GIT_MINOR 39			/* version in Debian 12 */
#define INODES_MIN 1000
#define FILES_OF_OURS 256		/* for connections, the database and temporary needs */
#define FILES_OF_A_SLOT 16
#define LEFT_SHOWN 5
#define ATTEMPTS_MAX 200000
#define EXIT_BAD RECORD_EXIT ".bad"
#define LANDLOCK_VERSION 1U		/* flag of landlock_create_ruleset(2) */
#define CLOCK_FLOOR 1735689600		/* 2025-01-01: a clock before that was never set */

static void say(struct doctor_host *h, enum doctor_state state, const char *remedy, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void say(struct doctor_host *h, enum doctor_state state, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doctor_vsay(&h->checks, h->probe, state, remedy, fmt, ap);
	va_end(ap);
}

static void check_space(struct doctor_host *h)
{
	char free_text[32], floor_text[32];
	struct statvfs fs;
	int64_t bytes;

	if (statvfs(h->state_dir, &fs) == -1) {
		say(h, DOCTOR_FAILED, "make the state directory reachable", "%s: %s", h->state_dir, strerror(errno));
		return;
	}
	bytes = (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
	size_format(bytes, free_text, sizeof(free_text));
	size_format(h->disk_floor, floor_text, sizeof(floor_text));
	if (bytes < h->disk_floor)
		say(h, DOCTOR_FAILED, "free some space: no attempt starts until then",
		    "%s free at %s, limits.disk_floor is %s", free_text, h->state_dir, floor_text);
	else if (bytes < 2 * h->disk_floor)
		say(h, DOCTOR_WARNING, "free some space: below this limit no attempt starts",
		    "%s free at %s, less than twice limits.disk_floor (%s)", free_text, h->state_dir, floor_text);
	else if (fs.f_files > 0 && fs.f_favail < INODES_MIN)
		say(h, DOCTOR_WARNING, "remove unneeded files: each attempt creates some",
		    "the file system of %s can hold %llu more files", h->state_dir,
		    (unsigned long long)fs.f_favail);
	else
		say(h, DOCTOR_OK, NULL, "%s free at %s", free_text, h->state_dir);
}

static void check_state_dir(struct doctor_host *h)
{
	bool passed = agent_user()->apart;	/* agents pass through it */
	struct stat st;

	if (stat(h->state_dir, &st) == -1 || access(h->state_dir, R_OK | W_OK | X_OK) == -1)
		say(h, DOCTOR_FAILED, "give it back to the daemon's user", "%s: %s", h->state_dir, strerror(errno));
	else if (st.st_uid != geteuid())
		say(h, DOCTOR_WARNING, "chown it to the daemon's user",
		    "%s belongs to uid %u, but the daemon is uid %u", h->state_dir,
		    (unsigned)st.st_uid, (unsigned)geteuid());
	else if ((st.st_mode & (passed ? 066 : 077)) != 0)
		say(h, DOCTOR_WARNING, passed ? "chmod it to 711: it contains outputs and prompts" :
		    "chmod it to 700: it contains outputs and prompts",
		    "%s has mode %03o: other users may read it",
		    h->state_dir, (unsigned)(st.st_mode & 0777));
	else
		say(h, DOCTOR_OK, NULL, "%s, private to the daemon's user", h->state_dir);
}

/* A program that belongs to rld. */
static void check_helper(struct doctor_host *h, const char *name, const char *path)
{
	char line[128], reinstall[128];
	size_t n = strlen(name);
	int rv = access(path, X_OK) == -1 ? -errno : version_probe(path, line, sizeof(line));

	snprintf(reinstall, sizeof(reinstall),
	    "install %s of the same version as rld: runs fail without it", name);
	if (rv == -ENOMSG)
		say(h, DOCTOR_FAILED, reinstall, "%s prints no version", path);
	else if (rv != 0)
		say(h, DOCTOR_FAILED, reinstall, "%s: %s", path, strerror(-rv));
	else if (strncmp(line, name, n) != 0 || line[n] != ' ' || strcmp(line + n + 1, h->version) != 0)
		say(h, DOCTOR_WARNING,
		    "restart the daemon after an upgrade; install one version of all programs",
		    "%s prints '%s', the daemon is rld %s", path, line, h->version);
	else
		say(h, DOCTOR_OK, NULL, "%s, %s", h->version, path);
}

static void check_shim(struct doctor_host *h)
{
	check_helper(h, "rl-shim", h->shim);
}

static void check_rl_git(struct doctor_host *h)
{
	check_helper(h, "rl-git", h->rl_git);
}

static void check_git(struct doctor_host *h)
{
	static const char remedy[] =
	    "install git; without it runs work only with the review off or with profile exit";
	char *path = program_find(getenv("PATH"), "git"), line[128];
	int major = 0, minor = 0, rv;

	if (path == NULL) {
		say(h, DOCTOR_WARNING, remedy,
		    "not on the daemon's PATH; runs use the PATH of their submitter");
		return;
	}
	rv = version_probe(path, line, sizeof(line));
	if (rv != 0)
		say(h, DOCTOR_WARNING, remedy, "%s --version: %s", path, rv == -ENOMSG ? "it fails" : strerror(-rv));
	else if (sscanf(line, "git version %d.%d", &major, &minor) != 2 || major < GIT_MAJOR ||
	    (major == GIT_MAJOR && minor < GIT_MINOR))
		say(h, DOCTOR_WARNING, "install a newer git",
		    "%s prints '%s', which is older than %d.%d or no version", path, line,
		    GIT_MAJOR, GIT_MINOR);
	else
		say(h, DOCTOR_OK, NULL, "%s, %s", line + strlen("git version "), path);
	free(path);
}

static void check_bd(struct doctor_host *h)
{
	char *path = program_find(getenv("PATH"), "bd");

	if (path != NULL)
		say(h, DOCTOR_OK, NULL, "%s", path);
	else
		say(h, DOCTOR_OK, NULL,
		    "not on the daemon's PATH: beads are read from .beads/issues.jsonl and cannot "
		    "be closed there");
	free(path);
}

static void check_landlock(struct doctor_host *h)
{
	static const char remedy[] =
	    "boot a kernel with Landlock enabled (\"landlock\" in lsm=): without it read-only "
	    "reviewers are not confined";
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
	enum doctor_state bad = h->sandbox_required ? DOCTOR_FAILED : DOCTOR_WARNING;

	if (abi >= 1)
		say(h, DOCTOR_OK, NULL, "ABI %ld", abi);
	else
		say(h, bad, remedy, "not supported by the kernel: %s%s", strerror(errno),
		    h->sandbox_required ?
		        "; review.sandbox is \"require\", so read-only reviews fail" : "");
}

/* Whether others may write to it, and so change what the daemon starts. */
static bool open_to_others(const struct stat *st)
{
	return (st->st_mode & 022) != 0 || (st->st_uid != 0 && st->st_uid != geteuid());
}

static void check_config(struct doctor_host *h)
{
	struct config_stamp now = config_stamp_of(h->config_file);
	bool same = config_stamp_equal(&now, &h->config);
	struct config_error error = { 0 };
	struct config *config = NULL;
	struct stat st;

	if (config_load(&config, h->config_file, false, &error) == -1)
		say(h, DOCTOR_FAILED,
		    "correct it: the daemon would neither start with it nor reload it",
		    "%s", error.text);
	else if (!same)
		say(h, DOCTOR_WARNING, "rlctl rpc daemon.reload", "%s has %s since it was read", h->config_file,
		    !now.there ? "gone" : h->config.there ? "changed" : "come");
	else if (now.there && stat(h->config_file, &st) == 0 && open_to_others(&st))
		say(h, DOCTOR_WARNING, "chmod it to go-w, owned by root or the daemon's user",
		    "%s is writable by other users, who could change what the daemon starts", h->config_file);
	else if (now.there)
		say(h, DOCTOR_OK, NULL, "%s, in effect", h->config_file);
	else
		say(h, DOCTOR_OK, NULL, "no file %s: the defaults are in effect", h->config_file);
	config_free(config);
}

static void check_sockets(struct doctor_host *h)
{
	struct buf good = { 0 };
	struct stat st;

	for (size_t i = 0; h->sockets != NULL && h->sockets[i] != NULL; i++) {
		if (lstat(h->sockets[i], &st) == -1)
			say(h, DOCTOR_WARNING, "restart the daemon to create it again", "%s: %s",
			    h->sockets[i], strerror(errno));
		else if (!S_ISSOCK(st.st_mode))
			say(h, DOCTOR_WARNING, "move it away, and restart the daemon",
			    "%s is no longer a socket", h->sockets[i]);
		else
			buf_addf(&good, "%s%s", good.size > 0 ? ", " : "", h->sockets[i]);
	}
	if (good.size > 0)
		say(h, DOCTOR_OK, NULL, "%s", good.data);
	buf_release(&good);
}

/* Whether a user without any group of ours can reach one of the sockets. */
static bool others_reach(const struct doctor_host *h)
{
	const struct peer nobody = { .uid = (uid_t)-2 };

	for (size_t i = 0; h->sockets != NULL && h->sockets[i] != NULL; i++)
		if (peer_access(&nobody, h->sockets[i], W_OK) == 0)
			return true;
	return false;
}

static void check_access(struct doctor_host *h)
{
	for (char **text = h->unknown; text != NULL && *text != NULL; text++)
		say(h, DOCTOR_WARNING, "correct the name, or reload when the host knows it: rlctl rpc daemon.reload",
		    "%s", *text);
	if (h->to_others && !others_reach(h))
		say(h, DOCTOR_WARNING, "start it with --socket, in a directory that they may enter",
		    "[access] gives roles to other users, but not all of them can reach %s",
		    h->sockets != NULL ? h->sockets[0] : "a socket");
	else if (h->unknown == NULL)
		say(h, DOCTOR_OK, NULL, "%s", h->to_others ? "all users and groups of [access] are known" :
		    "only the daemon's user and root");
}

/* Providers report resets as a time of day in a time zone. */
static void check_clock(struct doctor_host *h)
{
	struct timex timex = { 0 };
	int rv = adjtimex(&timex);

	if (time(NULL) < CLOCK_FLOOR)
		say(h, DOCTOR_FAILED, "set the clock", "the clock was never set");
	else if (rv == TIME_ERROR || (rv != -1 && (timex.status & STA_UNSYNC) != 0))
		say(h, DOCTOR_WARNING, "use a time service, such as systemd-timesyncd or chrony",
		    "the kernel knows of no time synchronisation: the reset times of limits depend "
		    "on the clock");
	else
		say(h, DOCTOR_OK, NULL, "synchronised, according to the kernel");
}

static void check_time_zones(struct doctor_host *h)
{
	const char *zones = getenv("TZDIR");
	char *sample = xasprintf("%s/Europe/Berlin", zones != NULL && zones[0] == '/' ? zones : "/usr/share/zoneinfo");

	if (access(sample, R_OK) == 0)
		say(h, DOCTOR_OK, NULL, "known");
	else
		say(h, DOCTOR_WARNING,
		    "install tzdata: without it, reset times with a time zone cannot be read",
		    "%s: %s", sample, strerror(errno));
	free(sample);
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = -1;		/* without the directory itself */

	if (dir == NULL)
		return 0;
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

static void check_limits(struct doctor_host *h)
{
	rlim_t wanted = FILES_OF_OURS + (rlim_t)h->parallel * FILES_OF_A_SLOT;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return;
	if (limit.rlim_cur < wanted)
		say(h, DOCTOR_WARNING, "raise the hard limit: LimitNOFILE= of the service, or ulimit -Hn",
		    "%llu open files allowed, %d in use; %llu are needed for %lld slots",
		    (unsigned long long)limit.rlim_cur, open_files(),
		    (unsigned long long)wanted, (long long)h->parallel);
	else
		say(h, DOCTOR_OK, NULL, "%llu open files allowed, %d in use",
		    (unsigned long long)limit.rlim_cur, open_files());
}

static void check_attempt_limits(struct doctor_host *h)
{
	const char *remedy = NULL;
	char *unmet = starter_limits_unmet(&h->limits, &remedy), memory[32], processes[32];

	size_format(h->limits.memory, memory, sizeof(memory));
	snprintf(processes, sizeof(processes), "%lld processes", (long long)h->limits.processes);
	if (unmet != NULL)
		say(h, DOCTOR_WARNING, remedy, "%s", unmet);
	else if (h->limits.memory == 0 && h->limits.processes == 0)
		say(h, DOCTOR_OK, NULL, "none is set: limits.memory and limits.processes");
	else
		say(h, DOCTOR_OK, NULL, "each attempt has at most %s%s%s", h->limits.memory > 0 ? memory : processes,
		    h->limits.memory > 0 && h->limits.processes > 0 ? " of memory and " : h->limits.memory > 0 ?
		    " of memory" : "", h->limits.memory > 0 && h->limits.processes > 0 ? processes : "");
	free(unmet);
}

static void check_user(struct doctor_host *h)
{
	const struct agent_user *agents = agent_user();

	if (agents->apart)
		say(h, DOCTOR_OK, NULL, "agents work as %s (uid %d), rld as uid %d",
		    agents->name != NULL ? agents->name : "a user without a name", (int)agents->is.uid, (int)geteuid());
	else if (geteuid() == 0)
		say(h, DOCTOR_WARNING, "run rld as a separate user, or as yourself",
		    "agents run as root: they can change anything on this host");
	else
		say(h, DOCTOR_OK, NULL, "agents run as uid %u", (unsigned)geteuid());
}

struct left {
	struct buf names;
	size_t count;
};

static void add_left(void *arg, pid_t pid, const char *name)
{
	struct left *left = arg;

	if (left->count++ < LEFT_SHOWN)
		buf_addf(&left->names, "%s%d (%s)", left->names.size > 0 ? ", " : "", (int)pid, name);
}

static void check_strays(struct doctor_host *h)
{
	struct left left = { 0 };

	strays_each(add_left, &left);
	if (left.count == 0)
		say(h, DOCTOR_OK, NULL, "all processes of attempts have their rl-shim");
	else
		say(h, DOCTOR_WARNING, "inspect them, and end those that are not needed: kill PID",
		    "%zu process%s of attempts without rl-shim: %s%s", left.count, left.count == 1 ?
		    "" : "es", left.names.data, left.count > LEFT_SHOWN ? ", ..." : "");
	buf_release(&left.names);
}

/* Unreadable exit records were renamed; report them. */
static void check_attempts(struct doctor_host *h)
{
	char *path = xasprintf("%s/attempts", h->state_dir);
	size_t count = 0, bad = 0, strange = 0;
	DIR *dir = opendir(path);

	if (dir == NULL) {
		say(h, DOCTOR_FAILED, "restart the daemon to create the directory", "%s: %s", path, strerror(errno));
		free(path);
		return;
	}
	for (const struct dirent *entry; count < ATTEMPTS_MAX && (entry = readdir(dir)) != NULL;) {
		char name[300];

		if (entry->d_name[0] == '.')
			continue;
		count++;
		snprintf(name, sizeof(name), "%s/%s", entry->d_name, EXIT_BAD);
		strange += entry->d_name[strspn(entry->d_name, "0123456789")] != '\0';
		bad += faccessat(dirfd(dir), name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	closedir(dir);
	if (bad + strange > 0)
		say(h, DOCTOR_WARNING, "inspect them: " EXIT_BAD " is an unreadable exit record",
		    "%zu directories in %s: %zu with a damaged exit record, %zu unknown to rld",
		    count, path, bad, strange);
	else
		say(h, DOCTOR_OK, NULL, "%zu directories%s, no damaged exit record", count,
		    count == ATTEMPTS_MAX ? " checked" : "");
	free(path);
}

void doctor_look(struct doctor_host *host)
{
	static const struct {
		const char *name;
		void (*check)(struct doctor_host *h);
		bool deep;
	} probes[] = {
		{ "state", check_state_dir, false },
		{ "space", check_space, false },
		{ "config", check_config, false },
		{ "socket", check_sockets, false },
		{ "access", check_access, false },
		{ "rl-shim", check_shim, false },
		{ "rl-git", check_rl_git, false },
		{ "git", check_git, false },
		{ "bd", check_bd, false },
		{ "landlock", check_landlock, false },
		{ "limits", check_limits, false },
		{ "cgroup", check_attempt_limits, false },
		{ "clock", check_clock, false },
		{ "time zones", check_time_zones, false },
		{ "user", check_user, false },
		{ "strays", check_strays, false },
		{ "attempts", check_attempts, true },
	};

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		host->probe = probes[i].name;
		if (host->deep || !probes[i].deep)
			probes[i].check(host);
	}
}
