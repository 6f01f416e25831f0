/* SPDX-License-Identifier: MIT */
/* What rld and rl-start say to each other, on a SOCK_SEQPACKET socket: one connection for each
 * request. rld sends a request with descriptors, rl-start answers, and when the process that was
 * started has ended, it says how. Both are of one version: rl-start is restarted with its package,
 * and refuses another. */
#ifndef PROC_START_WIRE_H
#define PROC_START_WIRE_H

#include <stdint.h>
#include <sys/types.h>

#define START_VERSION 2
#define START_FDS 4

enum start_kind {
	START_WHO,	/* who are the agents? answer: value is their uid, more their group */
	/* Start rl-shim. words: uuid, directory. fds: words, lock, environment. number: umask,
	 * more: RLIMIT_CORE, memory and processes: limits of its cgroup, 0: none. Answer: value is
	 * its pid, fd its pidfd. Descriptor 4 of the shim is the environment. */
	START_SHIM,
	/* Run a program of which the output is wanted, as the agents; it is ended when the
	 * connection is. words: path, argv. fds: words, output, environment. Answer: as above. */
	START_TELL,
	/* Kill what is left of an attempt. words: uuid. fds: words. Answer: value is how many there
	 * were, -1: some are left. */
	START_KILL,
	/* Remove a directory or file with all that agents have made in it. words: path. fds: words.
	 * Answer: when it is done. */
	START_REMOVE,
	START_LIMITS	/* what can attempts have? answer: value is a mask of START_CAN_... */
};

#define START_CAN_GROUP 1		/* a cgroup of its own */
#define START_CAN_MEMORY 2		/* ... with a limit of memory */
#define START_CAN_PROCESSES 4		/* ... of processes */

struct start_request {
	uint32_t version, kind;
	uint64_t number, more, memory, processes;
};

enum start_said { START_ANSWER, START_ENDED };	/* ENDED: value is a status as from waitpid() */

struct start_answer {
	uint32_t said;
	int32_t error;		/* errno; 0: done */
	int64_t value, more;
};

/* Send size bytes and descriptors, which stay open here. 0 or -errno. */
int start_send(int conn, const void *data, size_t size, const int *fds, size_t nfds);

/* Receive a message of exactly this size, and up to START_FDS descriptors, -1: fewer came. 0;
 * -ECONNRESET: the connection has ended; -EPROTO: something else; or -errno. */
int start_receive(int conn, void *data, size_t size, int fds[START_FDS]);

/* A file in memory of the strings, each with its NUL, for a descriptor to be sent; -errno. */
int start_words(char *const *words);

/* Read them again: a new list; NULL with errno. */
char **start_words_read(int fd);

#endif
