/* SPDX-License-Identifier: MIT */
/* Standard input, output and error of a program that may have been started without them. */
#ifndef PROTO_STD_FDS_H
#define PROTO_STD_FDS_H

/* Before anything is opened: no descriptor below 3 is free, so that no socket or file ever gets
 * the number of a standard stream, and what is printed never goes there. Reading and writing
 * one that was closed fails as it did; what is said on standard error is lost. Aborts when
 * there is no /dev/null. */
void std_fds_reserve(void);

#endif
