/* SPDX-License-Identifier: MIT */
/* What rlctl says on stderr. With --json, errors are JSON: one object a line, when rlctl ends. */
#ifndef CLIENT_MESSAGE_H
#define CLIENT_MESSAGE_H

#include <stdbool.h>

#include "proto/call.h"

/* From now on errors are JSON. */
void message_json(void);

/* An error of rlctl itself; text from elsewhere is escaped. The second one adds strerror(errno),
 * the third one ends rlctl with EXIT_REFUSED. */
void message_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void message_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void message_die(const char *what);

/* An error reply of the daemon. option: the one that filled the parameter at fault; NULL: none did.
 * had_options: the general hint about parameters is left out. */
void message_refused(const struct call_error *error, const char *option, bool had_options);

/* One more line about the last error: what helps. */
void message_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* No error: text at once, in one line, also with --json. */
void message_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Print the errors that are JSON. status: the exit code. */
void message_end(int status);

#endif
