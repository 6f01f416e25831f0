/* SPDX-License-Identifier: MIT */
/* A job is file work of the engine as a value: it travels to a worker thread and back. Each kind
 * has its own header in daemon/job. */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <stdint.h>

struct job;

/* A kind of job. run is called on a worker thread, may block, and touches only files and the job
 * itself. release frees the inputs that the job owns, and the outputs that were not taken. */
struct job_type {
	const char *name;
	void (*run)(struct job *job);
	void (*release)(struct job *job);
};

/* First member of every kind; the type determines the struct. */
struct job {
	const struct job_type *type;	/* set when the job is handed in */
	const char *state_dir;		/* borrowed from the engine */
	const char *config_dir;		/* NULL: none */
	const char *socket;		/* of this daemon, NULL: none */
	const char *shim;		/* path of rl-shim */
	int fault;	/* out: errno of a fault of the host that prevented it: try
			 * again; 0: none */
};

/* Run the job. */
void job_run(struct job *job);

void job_free(struct job *job);

#endif
