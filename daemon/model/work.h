/* SPDX-License-Identifier: MIT */
/* File work: everything of the engine that reads or writes files, as values that travel to a worker thread and back. */
#ifndef MODEL_WORK_H
#define MODEL_WORK_H

#include <stdint.h>

struct work;

/* A kind of work: run on a worker thread, blocking, touches nothing but files and the work itself; release frees the inputs that it owns,
 * and the outputs that were not taken. */
struct work_type {
	const char *name;
	void (*run)(struct work *work);
	void (*release)(struct work *work);
};

/* Head of every kind; the type decides which struct it is. */
struct work {
	const struct work_type *type;	/* set when it is handed in */
	const char *state_dir;		/* borrowed from the engine */
	const char *config_dir;		/* NULL: none */
	const char *socket;		/* of this daemon, NULL: none */
	int fault;			/* out: the errno of a fault of the host that kept it from being done; nothing is lost, ask again. 0: none */
};

/* Do it. */
void work_run(struct work *work);

void work_free(struct work *work);

#endif
