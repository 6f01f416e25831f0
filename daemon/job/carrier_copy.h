/* SPDX-License-Identifier: MIT */
/* The file in which a reviewer hands over its answer: read once, when its processes have ended, and
 * copied to the attempt's directory. The attempt's row gets the hash of the copy; only a copy with
 * that hash is judged. So what changes either file later is noticed, and a restart of the daemon
 * changes nothing. No link is followed on the way to it. Blocking: off the loop only. */
#ifndef JOB_CARRIER_COPY_H
#define JOB_CARRIER_COPY_H

#include <stddef.h>
#include <stdint.h>

struct carrier_copy {
	/* in, owned: path of the file; NULL: $RL_VERDICT_FILE of the attempt */
	char *file;
	char *workspace;		/* in, owned: as in the run's row */
	/* out, owned: SHA-256 of the copy, which is empty if there is no file; or why what lies
	 * there is no answer */
	char *hash, *fault;
};

/* Make the copy of an attempt. Returns 0 or -errno; -errno only for faults of the host. */
int carrier_copy_make(struct carrier_copy *copy, const char *state_dir, int64_t attempt);
/* Read it. hash: as recorded, NULL: unknown. Returns 0; -ESTALE: it has another hash; -errno. */
int carrier_copy_read(int dirfd, const char *hash, char **data, size_t *size);
void carrier_copy_release(struct carrier_copy *copy);

/* Open the directory of file, which is below the state directory or the workspace; the links in the
 * paths of these two may be followed, no other. *name: its last component, in file. -errno. */
int carrier_dir(const char *state_dir, const char *workspace, const char *file, const char **name);
/* Write such a file; data NULL: remove it. Returns 0 or -errno; one that cannot be reached without
 * a link is not there. */
int carrier_put(const char *state_dir, const char *workspace, const char *file, const char *data, size_t size);

#endif
