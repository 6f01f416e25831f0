/* SPDX-License-Identifier: MIT */
/* Copies of files that share their blocks where the file system can do that, and are independent of
 * each other in any case. Blocking. */
#ifndef GIT_ROOM_COPY_H
#define GIT_ROOM_COPY_H

/* Create the file to in the directory todir, with the content of the regular file from in fromdir
 * and mode. 0 or -errno. */
int room_copy_file(int fromdir, const char *from, int todir, const char *to, int mode);

#endif
