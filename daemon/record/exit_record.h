/* SPDX-License-Identifier: MIT */
/* The exit record: what rl-shim leaves behind when an attempt or step has ended and its
 * process tree is empty. */
#ifndef RECORD_EXIT_RECORD_H
#define RECORD_EXIT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum exit_how {
	EXIT_BY_CODE,		/* status = exit code */
	EXIT_BY_SIGNAL,		/* status = signal number */
	EXIT_NOT_STARTED	/* status = errno of the failed start; error says what failed */
};

/* What ended the process. */
enum exit_by {
	EXIT_OWN,		/* it ended by itself */
	EXIT_WALL,		/* wall timeout */
	EXIT_IDLE,		/* idle timeout */
	EXIT_TERM,		/* the shim got SIGTERM: sender_pid and sender_uid say from whom */
	EXIT_RESULT		/* the shim got SIGUSR1, for its result had been given, and it did
				 * not exit in the time for that */
};

struct exit_record {
	enum exit_how how;
	int status;
	enum exit_by by;
	int64_t sender_pid, sender_uid;		/* EXIT_TERM only, else 0 */
	int64_t started_ms, ended_ms;		/* wall clock */
	uint64_t stdout_bytes, stderr_bytes;	/* as the program wrote them */
	uint64_t dropped;			/* of these, bytes not kept */
	bool tree_empty;			/* waitpid said ECHILD */
	int64_t signalled_ms;			/* wall clock: when the shim first sent a signal to
						 * the tree, or was about to; 0: it sent none */
	uint64_t stdout_signalled, stderr_signalled;	/* of the bytes above, those written before
							 * that; 0 without signalled_ms */
	int sandbox;				/* Landlock ABI that confined it; 0: it
						 * was not confined */
	char error[256];			/* EXIT_NOT_STARTED: "exec /no/such: No such
						 * file or directory" */
};

/* Write atomically and durably as <dirfd>/exit: space reserved beforehand by exit_record_reserve(),
 * then tmp, fsync, rename, fsync(dir). durable=false leaves both fsyncs out (git steps, which are
 * run again). 0 or -errno. */
int exit_record_reserve(int dirfd);
int exit_record_write(int dirfd, const struct exit_record *record, bool durable);

/* 0; -ENOENT: none there; -EBADMSG: there but unreadable. */
int exit_record_read(int dirfd, struct exit_record *record);

#endif
