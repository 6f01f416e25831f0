/* SPDX-License-Identifier: MIT */
/* Starts, watches, ends and takes back attempts and steps through rl-shim. Only proc/spawn.c
 * spawns. */
#ifndef PROC_PROC_H
#define PROC_PROC_H

#include <sys/resource.h>
#include <sys/types.h>
#include <uv.h>

#include "proc/launch.h"
#include "proc/starter.h"

struct proc;

/* attempts_dir and shim_path are absolute and copied. */
struct proc *proc_new(uv_loop_t *loop, const char *attempts_dir, const char *shim_path,
    const struct proc_sink *sink, void *arg);

/* Values that agents inherit as rld had them at its start: umask, and the soft RLIMIT_NOFILE (0: as
 * rld has it) and RLIMIT_CORE. Defaults: 022, 0, and the limit at proc_new(). */
void proc_set_inherited(struct proc *proc, mode_t umask, int64_t nofile, rlim_t core);

/* Of attempts that start from now on, but of no steps and hooks. Without rl-start they have no
 * effect. */
void proc_set_limits(struct proc *proc, const struct start_limits *limits);

/* Start launch; takes ownership. Directory, files and job are written off the loop; then lock,
 * posix_spawn, pidfd watch. Exactly one of started(), refused() or taken() follows; after started()
 * exactly one ended(). */
void proc_start(struct proc *proc, struct launch *launch);

/* End the process tree: SIGTERM to the shim, which does TERM, grace, KILL. Unknown and ended ids
 * are ignored; an attempt that is being started is ended as soon as it runs. */
void proc_end(struct proc *proc, int64_t id);

/* The result has been read: SIGUSR1 to the shim, and the process has the job's post_result_ms to
 * exit. Repeated calls are allowed; unknown and ended ids are ignored. */
void proc_wind_up(struct proc *proc, int64_t id);

/* No progress for the job's idle_ms: SIGUSR2 to the shim, which ends the process as idle; older
 * shims ignore it. Repeated calls are allowed; ids that do not run are ignored. */
void proc_stalled(struct proc *proc, int64_t id);

/* Inspect what an earlier daemon started. Exactly one found() follows. */
void proc_adopt(struct proc *proc, const struct adopt *adopt);

/* Stop watching; attempts continue. Reports stop at once; closed() is called when all memory is
 * freed. */
void proc_close(struct proc *proc, void (*closed)(void *arg), void *arg);

/* This boot's id, from /proc/sys/kernel/random/boot_id; static storage. */
const char *proc_boot_id(void);

#endif
