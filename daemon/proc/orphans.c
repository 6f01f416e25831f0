/* SPDX-License-Identifier: MIT */
#include "proc/orphans.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/proc_int.h"

static bool is_shim(const struct proc *proc, pid_t pid)
{
	const struct entry *e;

	LIST_FOREACH(e, &proc->entries, link)
		if (e->child == pid)
			return true;
	return false;
}

static FILE *open_children(void)
{
	return fopen("/proc/thread-self/children", "re");
}

bool orphans_mixed(void)
{
	FILE *children = open_children();
	long pid;
	bool any = children != NULL && fscanf(children, "%ld", &pid) == 1;

	if (children != NULL)
		fclose(children);
	return any || getpid() == 1;
}

/* Reap them; end: and kill them. Returns how many may be left. */
static size_t orphans_each(const struct proc *proc, bool end)
{
	FILE *children = open_children();
	size_t count = 0;
	long pid;

	if (children == NULL)
		return 0;
	while (fscanf(children, "%ld", &pid) == 1) {
		if (is_shim(proc, (pid_t)pid))
			continue;
		/* unreaped, so the pid is not reused */
		if (end)
			kill((pid_t)pid, SIGKILL);
		waitpid((pid_t)pid, NULL, WNOHANG | __WALL);
		count += end;
	}
	fclose(children);
	return count;
}

size_t orphans_end(const struct proc *proc)
{
	return orphans_each(proc, !proc->mixed);
}

void orphans_reap(const struct proc *proc)
{
	orphans_each(proc, false);
}
