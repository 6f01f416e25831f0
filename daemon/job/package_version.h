/* SPDX-License-Identifier: MIT */
#ifndef JOB_PACKAGE_VERSION_H
#define JOB_PACKAGE_VERSION_H

/* The version of the npm package that has the program at that path, links followed: from the
 * nearest package.json above it inside of a directory node_modules. Nothing is run. malloc'd; NULL:
 * it is in no such package. */
char *package_version(const char *program);

#endif
