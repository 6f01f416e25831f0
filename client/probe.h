/* SPDX-License-Identifier: MIT */
/* Asks programs for their version, several side by side: none may hold us up, flood
 * us or stay behind. */
#ifndef CLIENT_PROBE_H
#define CLIENT_PROBE_H

#include <stddef.h>
#include <stdint.h>

enum probe_result {
	PROBE_ANSWERED,
	PROBE_FAILED,		/* exit status other than 0, in status */
	PROBE_KILLED,		/* by the signal in status */
	PROBE_LATE,		/* it was ended for taking too long */
	PROBE_FLOODS,		/* it was ended for printing without end */
	PROBE_NOT_STARTED	/* for the errno in status */
};

struct probe {
	const char *path;	/* of the program; borrowed */
	char **environment;	/* "K=V", NULL-terminated; borrowed */
	enum probe_result result;
	int status;
	char *line;		/* the first that it printed, on stderr if it printed none on
				 * stdout; "": none at all */
	char *version;		/* the first word of digits and dots that it printed, with what
				 * hangs on it; NULL: there was none */
};

/* Fills in the results; each program has ms from its start. A signal that ends us
 * ends them first. */
void probe_run(struct probe *probes, size_t count, int64_t ms);
void probe_release(struct probe *probe);

/* The first word of digits and dots in text, with what hangs on it by "-" or "+": "2.1.197" of
 * "v2.1.197 (Claude Code)". New, or NULL. */
char *probe_version(const char *text);

enum probe_drift { DRIFT_NONE, DRIFT_PATCH, DRIFT_MINOR, DRIFT_MAJOR };

/* How far apart two versions are: the first of their numbers that differs. */
enum probe_drift probe_drift(const char *a, const char *b);

#endif
