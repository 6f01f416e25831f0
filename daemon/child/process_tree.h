/* SPDX-License-Identifier: MIT */
/* The process tree under rl-shim or rl-git: who belongs to it, signals to all of it, and the proof
 * that it is empty.
 *
 * That program is a subreaper, so whatever loses its parent becomes its child. Only its own
 * unreaped children are signalled, and the agent's group while the agent is unreaped: such a pid
 * cannot have been given to a stranger. Who stands deeper comes up as a child when its parent is
 * dead. */
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
	bool empty;			/* waitpid said ECHILD: nobody is left, at any depth */
	pid_t told[TREE_TOLD];		/* who has had SIGTERM; beyond these SIGKILL must do */
	size_t ntold;
};

/* Reap all that is dead, without waiting. True when somebody was. */
bool tree_reap(struct tree *tree);

/* SIGTERM, and SIGCONT so that a stopped process can heed it, to the agent's group and to every
 * child; once each. */
void tree_terminate(struct tree *tree);

/* SIGKILL to the agent's group and to every child. To be repeated until the tree is empty. */
void tree_kill(const struct tree *tree);

#endif
