/* SPDX-License-Identifier: MIT */
/* The identity of the shim of an attempt: a file that rl-shim renames into place before it starts
 * anything. */
#ifndef RECORD_IDENTITY_H
#define RECORD_IDENTITY_H

#include <stdint.h>

#define BOOT_ID 37	/* including NUL */

struct identity {
	int64_t pid;
	char boot_id[BOOT_ID];
	char version[32];	/* version of rl-shim */
};

/* The kernel's id of this boot. 0 or -errno. */
int boot_id_read(char out[BOOT_ID]);

/* Write the identity of the calling process into dirfd. Not fsynced: after a power cut no shim
 * lives, and proc/inspect.c allows for it. 0 or -errno. */
int identity_write(int dirfd);

/* 0; -ENOENT: no shim has written one; -EBADMSG: unreadable; -errno. */
int identity_read(int dirfd, struct identity *identity);

#endif
