/* SPDX-License-Identifier: MIT */
/* The engine's ports, implemented by the real rooms: store, proc, worker threads, clock. */
#ifndef DAEMON_WIRE_H
#define DAEMON_WIRE_H

#include <sys/queue.h>
#include <uv.h>

#include "model/ports.h"
#include "proc/proc.h"
#include "store/store.h"

/* State of the ports; must outlive the engine. proc is set before the engine starts anything. */
struct host_ports {
	uv_loop_t *loop;
	struct store *store;
	struct proc *proc;
	LIST_HEAD(, delayed) delayed;	/* jobs and wake-ups that wait for a time */
};

void host_ports_fill(struct host_ports *host, struct ports *ports);

/* Drop what waits for a time; the loop must run once more. */
void host_ports_close(struct host_ports *host);

#endif
