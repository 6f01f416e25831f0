/* SPDX-License-Identifier: MIT */
#include "record/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "record/fields.h"
#include "record/layout.h"

static const struct fields_row identity_rows[] = {
	{ "version", FIELDS_CHARS, offsetof(struct identity, version), sizeof(((struct identity *)0)->version), NULL },
	{ "pid", FIELDS_INT64, offsetof(struct identity, pid), 0, NULL },
	{ "boot_id", FIELDS_CHARS, offsetof(struct identity, boot_id), BOOT_ID, NULL },
};

static const struct fields_type identity_type = {
	.kind = "shim",
	.version = 1,
	.rows = identity_rows,
	.count = sizeof(identity_rows) / sizeof(identity_rows[0]),
	.object_size = sizeof(struct identity),
	.file_max = 4096,
};

int boot_id_read(char out[BOOT_ID])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd == -1)
		return -errno;
	n = read(fd, out, BOOT_ID - 1);
	close(fd);
	if (n != BOOT_ID - 1)
		return -EIO;
	out[n] = '\0';
	return 0;
}

int identity_write(int dirfd)
{
	struct identity id = { .pid = getpid() };
	int rv = boot_id_read(id.boot_id);

	if (rv != 0)
		return rv;
	snprintf(id.version, sizeof(id.version), "%s", RLD_VERSION);
	return fields_write(dirfd, RECORD_SHIM, &identity_type, &id, false);
}

int identity_read(int dirfd, struct identity *identity)
{
	int rv = fields_read(dirfd, RECORD_SHIM, &identity_type, identity);

	return rv == 0 && (identity->pid <= 1 || identity->pid > INT32_MAX) ? -EBADMSG : rv;
}
