/* SPDX-License-Identifier: MIT */
/* Names of files and refs that are made of ids: an id may have 200 bytes of anything, and its
 * encoding three times as many. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#define NAME_FIT_MAX 200	/* bytes: room for a suffix in the 255 of a file system */

/* Takes name, an encoding of id, and gives it back as it is, or when it is longer than that its
 * beginning with a digest of id behind. malloc'd. */
char *name_fit(char *name, const char *id);

#endif
