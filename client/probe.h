/* SPDX-License-Identifier: MIT */
/* Run several programs with --version in parallel: none may block, flood or outlive rlctl. */
#ifndef CLIENT_PROBE_H
#define CLIENT_PROBE_H

#include <stddef.h>
#include <stdint.h>

enum probe_result {
	PROBE_ANSWERED,
	PROBE_FAILED,		/* exit status other than 0, in status */
	PROBE_KILLED,		/* by the signal in status */
	PROBE_LATE,		/* killed because it took too long */
	PROBE_FLOODS,		/* killed because it printed too much */
	PROBE_NOT_STARTED	/* for the errno in status */
};

struct probe {
	const char *path;	/* path of the program; borrowed */
	char **environment;	/* "K=V", NULL-terminated; borrowed */
	enum probe_result result;
	int status;
	/* first line of its stdout, or of its stderr if stdout is empty; "": none */
	char *line;
	/* first word of digits and dots in its output, with suffixes; NULL: none */
	char *version;
};

/* Fill in the results; each program has ms from its start. If a signal ends rlctl, the programs are
 * killed first. */
void probe_run(struct probe *probes, size_t count, int64_t ms);
void probe_release(struct probe *probe);

/* The first word of digits and dots in text, with suffixes after "-" or "+": "2.1.197" of "v2.1.197
 * (Claude Code)". New, or NULL. */
char *probe_version(const char *text);

enum probe_drift { DRIFT_NONE, DRIFT_PATCH, DRIFT_MINOR, DRIFT_MAJOR };

/* Distance of two versions: the first of their numbers that differs. */
enum probe_drift probe_drift(const char *a, const char *b);

#endif
