/* SPDX-License-Identifier: MIT */
/* Starts, watches, ends and takes back attempts and steps through rl-shim. The only file of rld
 * that spawns is proc/spawn.c. */
#ifndef PROC_PROC_H
#define PROC_PROC_H

#include <sys/resource.h>
#include <sys/types.h>
#include <uv.h>

#include "proc/launch.h"

struct proc;

/* attempts_dir and shim_path are absolute and copied. */
struct proc *proc_new(uv_loop_t *loop, const char *attempts_dir, const char *shim_path,
    const struct proc_sink *sink, void *arg);

/* What agents get back of the environment that rld was started in, before it set its own: umask,
 * and the soft RLIMIT_NOFILE (0: as rld has it) and RLIMIT_CORE. Without this call 022, 0, and what
 * rld had at proc_new(). */
void proc_set_inherited(struct proc *proc, mode_t umask, int64_t nofile, rlim_t core);

/* Takes ownership of launch. Directory, files and job are written off the loop; then lock,
 * posix_spawn, pidfd watch. Exactly one of started(), refused() or taken() follows; after started()
 * exactly one ended(). */
void proc_start(struct proc *proc, struct launch *launch);

/* End the tree: SIGTERM to the shim, which does TERM, grace, KILL. Unknown or ended ids are
 * ignored; one that is still being started is ended as soon as it runs. */
void proc_end(struct proc *proc, int64_t id);

/* Its result is there, so it has the job's post_result_ms to exit: SIGUSR1 to the shim. As often as
 * one likes; unknown or ended ids are ignored. */
void proc_wind_up(struct proc *proc, int64_t id);

/* What it prints has shown no progress for as long as its job's idle_ms, so it is ended as idle:
 * SIGUSR2 to the shim, which knows how long it runs; one of a former version passes it over. As
 * often as one likes; ids that do not run are ignored. */
void proc_stalled(struct proc *proc, int64_t id);

/* Look for what an earlier daemon started. Exactly one found() follows. */
void proc_adopt(struct proc *proc, const struct adopt *adopt);

/* Stop watching everything, end nothing: attempts go on. Reports stop at once; memory is
 * freed by closed(). */
void proc_close(struct proc *proc, void (*closed)(void *arg), void *arg);

/* This boot's id, from /proc/sys/kernel/random/boot_id; static storage. */
const char *proc_boot_id(void);

#endif
