/* SPDX-License-Identifier: MIT */
/* Names of files and refs made from ids: an id may have any 200 bytes, and its encoding three times
 * as many. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

/* in bytes: leaves room for a suffix within the 255 of a file system */
#define NAME_FIT_MAX 200

/* Takes ownership of name, an encoding of id. Returns it unchanged, or if it is too long its
 * beginning with a digest of id. malloc'd. */
char *name_fit(char *name, const char *id);

#endif
