/* SPDX-License-Identifier: MIT */
/* The engine's ports, filled with the real rooms: store, proc, worker threads, clock. */
#ifndef DAEMON_WIRE_H
#define DAEMON_WIRE_H

#include <uv.h>

#include "engine/ports.h"
#include "proc/proc.h"
#include "store/store.h"

/* What the ports act on; must live as long as the engine. proc is set before the engine starts anything. */
struct wire {
	uv_loop_t *loop;
	struct store *store;
	struct proc *proc;
};

void wire_ports(struct wire *wire, struct ports *ports);

#endif
