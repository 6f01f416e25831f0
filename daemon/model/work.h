/* SPDX-License-Identifier: MIT */
/* File work: everything of the engine that reads or writes files, as values that travel to a worker thread and back. */
#ifndef MODEL_WORK_H
#define MODEL_WORK_H

#include <stdint.h>

enum work_kind {
	WORK_INTAKE,	/* is a submitted run possible, and what does it need from the disk */
	WORK_OPEN,	/* make the run's directory: task file, and what reviews go by as it is before any coder has run */
	WORK_STEP,	/* begin an operation, or read its result */
	WORK_COMPOSE,	/* prompt, environment and argv of an attempt */
	WORK_PICK,	/* has a running attempt picked its task */
	WORK_RESULT,	/* has a running attempt given its final result */
	WORK_NOTICE,	/* does a running attempt wait for a service that refuses it */
	WORK_COLLECT,	/* what an ended attempt said */
	WORK_JUDGE,	/* the verdict in what a review attempt left behind */
	WORK_FORGET,	/* remove what only an unfinished run needs */
	WORK_LOG,	/* a review log for people, in the working directory */
	WORK_REPORT	/* --report FILE */
};

/* Head of every kind; the kind decides which struct it is. */
struct work {
	enum work_kind kind;
	const char *state_dir;		/* borrowed from the engine */
	const char *config_dir;		/* NULL: none */
	const char *socket;		/* of this daemon, NULL: none */
	int fault;			/* out: the errno of a fault of the host that kept it from being done; nothing is lost, ask again. 0: none */
};

#endif
