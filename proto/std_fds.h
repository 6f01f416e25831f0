/* SPDX-License-Identifier: MIT */
/* Standard input, output and error of a program that may have been started without them. */
#ifndef PROTO_STD_FDS_H
#define PROTO_STD_FDS_H

/* Call it before anything is opened. Afterwards no descriptor below 3 is free, so no socket or file
 * gets the number of a standard stream. Reading and writing a stream that was closed still fails;
 * messages on a closed standard error are lost. Aborts without /dev/null. */
void std_fds_reserve(void);

#endif
