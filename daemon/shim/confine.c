/* SPDX-License-Identifier: MIT */
#include "shim/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in linux/landlock.h, whose version in Debian 12 ends with ABI 2. */
#define CREATE_RULESET_VERSION	1U
#define RULE_PATH_BENEATH	1
#define FS_WRITE_FILE		(UINT64_C(1) << 1)
#define FS_REMOVE_AND_MAKE	(UINT64_C(0x1ff) << 4)	/* remove_dir to make_sym */
#define FS_REFER		(UINT64_C(1) << 13)
#define FS_TRUNCATE		(UINT64_C(1) << 14)
#define FS_IOCTL_DEV		(UINT64_C(1) << 15)
#define SCOPE_SIGNAL		(UINT64_C(1) << 1)

/* Rights that a rule for a file may grant. */
#define OF_A_FILE		(FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset {
	uint64_t fs, net, scoped;
};

struct path_beneath {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

/* What each ABI added; [0] is ABI 1. The fourth is about the network. */
static const struct ruleset additions[CONFINE_LEVEL] = {
	{ .fs = FS_WRITE_FILE | FS_REMOVE_AND_MAKE },
	{ .fs = FS_REFER },
	{ .fs = FS_TRUNCATE },
	{ 0 },
	{ .fs = FS_IOCTL_DEV },
	{ .scoped = SCOPE_SIGNAL },
};

/* Devices that shells, build tools and terminals write to, and that store nothing. */
static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts" };

/* Permit everything beneath path. On failure it stays restricted, which is safe. */
static void allow(int ruleset, uint64_t rights, const char *path)
{
	struct path_beneath beneath = { .fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;

	if (beneath.fd == -1)
		return;
	if (fstat(beneath.fd, &st) == 0) {
		beneath.rights = S_ISDIR(st.st_mode) ? rights : rights & OF_A_FILE;
		syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &beneath, 0);
	}
	close(beneath.fd);
}

int confine(char *const *writable)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
	int level = abi < CONFINE_LEVEL ? (int)abi : CONFINE_LEVEL, ruleset, rv = 0;
	struct ruleset attr = { 0 };

	if (abi == -1)
		return -errno;
	for (int i = 0; i < level; i++) {
		attr.fs |= additions[i].fs;
		attr.scoped |= additions[i].scoped;
	}
	/* older kernels know a shorter struct, and accept it while the rest is zero */
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset == -1)
		return -errno;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		allow(ruleset, attr.fs, devices[i]);
	for (; writable != NULL && *writable != NULL; writable++)
		allow(ruleset, attr.fs, *writable);
	/* Without no_new_privs this needs CAP_SYS_ADMIN; set it always, so that all users are
	 * treated alike. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 || syscall(SYS_landlock_restrict_self, ruleset, 0) == -1)
		rv = -errno;
	close(ruleset);
	return rv == 0 ? level : rv;
}
