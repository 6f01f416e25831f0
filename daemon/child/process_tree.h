/* SPDX-License-Identifier: MIT */
/* The process tree under rl-shim or rl-git: its members, signals to all of it, and the proof that
 * it is empty.
 *
 * The program is a subreaper, so orphans become its children. It signals only its own unreaped
 * children, and the agent's group while the agent is unreaped: such a pid cannot have been reused.
 * Deeper processes become children when their parents are dead. */
#ifndef CHILD_PROCESS_TREE_H
#define CHILD_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TREE_TOLD 256

struct tree {
	pid_t main;			/* the agent */
	bool main_gone;			/* reaped, main_status is its wait status */
	int main_status;
	/* waitpid returned ECHILD: no process is left, at any depth */
	bool empty;
	/* processes that got SIGTERM; beyond this number SIGKILL must do */
	pid_t told[TREE_TOLD];
	size_t ntold;
};

/* Reap all dead processes, without waiting. Returns whether there were any. */
bool tree_reap(struct tree *tree);

/* Send SIGTERM, and SIGCONT so that a stopped process can handle it, to the agent's group and to
 * every child; once each. */
void tree_terminate(struct tree *tree);

/* Send SIGKILL to the agent's group and to every child. Repeat until the tree is empty. */
void tree_kill(const struct tree *tree);

#endif
