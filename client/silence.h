/* SPDX-License-Identifier: MIT */
/* A daemon that does not answer: say so, and give up after a limit. */
#ifndef CLIENT_SILENCE_H
#define CLIENT_SILENCE_H

struct call_conn;
struct host;

/* Read the limit from RLD_ANSWER_TIMEOUT. Returns 0, or an exit code after a message. */
int silence_init(void);

/* For the calls on a connection to this machine's daemon, or to another machine's (which must
 * outlive the connection). */
void silence_watch(struct call_conn *conn, const struct host *host);

#endif
