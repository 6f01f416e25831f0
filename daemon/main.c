/* SPDX-License-Identifier: MIT */
/* rld: start-up order, shutdown order. No logic. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>
#include <uv.h>

#include "base/agent_user.h"
#include "base/inherited_socket.h"
#include "base/journal.h"
#include "base/log.h"
#include "proto/memory.h"
#include "base/notify.h"
#include "config/config.h"
#include "engine/engine.h"
#include "keep/keeper.h"
#include "options.h"
#include "proto/clock.h"
#include "results.h"
#include "startup.h"
#include "state_dir.h"
#include "state_lock.h"
#include "state_watch.h"
#include "proc/proc.h"
#include "proto/std_fds.h"
#include "rpc/rpc.h"
#include "store/store.h"
#include "host_ports.h"
#include "proto/json_memory.h"
#include "watchdog.h"

/* How long clients and commits may delay the shutdown. */
#define STOP_WAIT_MS 5000

struct daemon {
	uv_loop_t loop;
	struct places places;
	struct config *config;
	char *notify_socket;
	char *shim, *rl_git;	/* paths of rl-shim and rl-git */
	const char *socket;	/* the one of places that agents and hooks are told */
	int inherited;		/* a listening socket of the service manager, or negative */
	char *instance;		/* eight hex digits that identify the state directory */
	/* directories unknown to the database at start, as a sentence; NULL */
	char *unknown;
	/* results to check after a restart of the machine; NULL: none */
	struct results *results;
	char *lost;		/* ... and the lost ones, NULL */
	int lock;
	struct state_watch *watch;	/* NULL: none */
	struct watchdog *watchdog;	/* NULL: none */
	struct host_ports host;
	struct engine *engine;
	struct keeper *keeper;
	struct rpc *rpc;
	uv_signal_t signals[3];
	uv_timer_t deadline;
	size_t shown;		/* running attempts in the process title */
	int to_close;		/* rooms that are not closed yet */
	bool stopping, timed_out;
	bool failed;		/* exit status 1 */
	bool explicit_config;
	uv_check_t drained;	/* active while draining: checks after each iteration of the loop */
	mode_t umask;		/* at our start: agents get both back */
	int64_t nofile;
	rlim_t core;
};

/* --check-config and --print-agents: what the settings are, without a daemon. */
static int report_config(const struct places *places, const struct options *o)
{
	struct config_error error = { 0 };
	struct config *config = NULL;
	int status = 0;

	if (config_load(&config, places->config_file, o->given.config != NULL, &error) == -1) {
		fprintf(stderr, "rld: %s\n", error.text);
		return 1;
	}
	if (o->print_agents)
		status = rpc_print_agents(config);
	else if (config_path(config) != NULL)
		printf("%s: ok\n", config_path(config));
	else
		printf("%s: no such file, using defaults\n", places->config_file);
	config_free(config);
	return status;
}

/* rl-shim or rl-git: next to this program (uninstalled), otherwise in libexec. */
static char *find_helper(const char *name)
{
	char self[4096], *path = NULL, *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		path = xasprintf("%.*s/%s", (int)(slash - self), self, name);
		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	path = xasprintf(RLD_LIBEXEC "/%s", name);
	if (access(path, X_OK) == -1)
		log_fatal("%s: %s; install %s there or next to rld", path, strerror(errno), name);
	return path;
}

/* Connections, attempts and operations need descriptors; our files are private; and no core file
 * may contain environments of runs. Agents get the original settings. */
static void set_limits(struct daemon *d)
{
	struct rlimit limit;

	d->umask = umask(077);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		d->nofile = (int64_t)limit.rlim_cur;
		limit.rlim_cur = limit.rlim_max > 65536 ? 65536 : limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (getrlimit(RLIMIT_CORE, &limit) == 0) {
		d->core = limit.rlim_cur;
		limit.rlim_cur = 0;
		setrlimit(RLIMIT_CORE, &limit);
	}
}

static void show_title(struct daemon *d)
{
	size_t running = engine_running(d->engine);

	if (running == d->shown)
		return;
	d->shown = running;
	setproctitle("-rld: %zu running", running);
}

static void stop(struct daemon *d);

static void committed(void *arg, const struct decision *decision)
{
	struct daemon *d = arg;

	if (d->rpc != NULL)
		rpc_committed(d->rpc, decision);
	keeper_committed(d->keeper, decision);
	show_title(d);
}

static void kept(void *arg, const struct decision *decision)
{
	struct daemon *d = arg;

	if (d->rpc != NULL)
		rpc_committed(d->rpc, decision);
}

static void space(void *arg, bool full)
{
	struct daemon *d = arg;

	if (d->engine != NULL)
		engine_set_full(d->engine, full);
	if (full)
		log_error("no space left for %s/rld.db; starting nothing new until there is", d->places.state_dir);
	else
		log_info("the database has space again; resuming");
}

static int reload(void *arg, char *error, size_t room)
{
	struct daemon *d = arg;
	struct config_error e = { 0 };
	struct config *config = NULL, *old = d->config;

	notify_reloading(d->notify_socket);
	if (!d->stopping)
		rpc_listen_again(d->rpc);
	if (config_load(&config, d->places.config_file, d->explicit_config, &e) == -1) {
		snprintf(error, room, "%s", e.text);
		log_error("reload failed: %s; keeping the current settings", e.text);
		notify_ready(d->notify_socket, NULL);
		return -1;
	}
	d->config = config;
	config_free(old);
	engine_set_parallel(d->engine, config_parallel(config));
	startup_configure(d->engine, d->config);
	startup_limits(&d->loop, d->host.proc, d->config);
	keeper_reloaded(d->keeper);
	log_info("settings reloaded from %s", d->places.config_file);
	notify_ready(d->notify_socket, NULL);
	return 0;
}

static void drained_cb(uv_check_t *check)
{
	struct daemon *d = check->data;

	if (engine_busy(d->engine) == 0)
		stop(d);
}

static void stop_requested(void *arg, bool drain)
{
	struct daemon *d = arg;

	if (!drain) {
		stop(d);
		return;
	}
	engine_drain(d->engine);
	log_info("draining; running attempts: %zu", engine_running(d->engine));
	uv_check_start(&d->drained, drained_cb);
	if (engine_busy(d->engine) == 0)
		stop(d);
}

static void signal_cb(uv_signal_t *handle, int signum)
{
	struct daemon *d = handle->data;
	char error[512];

	if (signum != SIGHUP)
		stop(d);
	else if (reload(d, error, sizeof(error)) == 0 && !d->stopping)
		rpc_access_changed(d->rpc);
}

/* Shutdown: no new work, then clients and watches, then the store, then the loop runs out of work.
 * Agents keep running. */

static void finish(struct daemon *d)
{
	for (size_t i = 0; i < sizeof(d->signals) / sizeof(d->signals[0]); i++)
		uv_close((uv_handle_t *)&d->signals[i], NULL);
	uv_close((uv_handle_t *)&d->deadline, NULL);
	uv_close((uv_handle_t *)&d->drained, NULL);
	state_watch_close(d->watch);
	watchdog_close(d->watchdog);
	host_ports_close(&d->host);
	store_unref(d->host.store);
}

static void closed(void *arg)
{
	struct daemon *d = arg;

	if (--d->to_close == 0 && !d->timed_out)
		finish(d);
}

static void rpc_closed(void *arg)
{
	struct daemon *d = arg;

	d->rpc = NULL;
	closed(d);
}

static void deadline_cb(uv_timer_t *timer)
{
	struct daemon *d = timer->data;

	log_warn("shutdown timed out after %d s, waiting for clients, commits or file work", STOP_WAIT_MS / 1000);
	d->timed_out = true;
	uv_stop(&d->loop);
}

static void stop(struct daemon *d)
{
	if (d->stopping)
		return;
	d->stopping = true;
	log_info("stopping; attempts that keep running: %zu", engine_running(d->engine));
	notify_stopping(d->notify_socket);
	engine_stop(d->engine);
	results_stop(d->results);
	d->to_close = 3;
	uv_timer_start(&d->deadline, deadline_cb, STOP_WAIT_MS, 0);
	proc_close(d->host.proc, closed, d);
	rpc_close(d->rpc, rpc_closed, d);
	keeper_close(d->keeper, closed, d);
}

/* The state directory is gone, so another daemon could create and lock it. */
static void state_gone(void *arg)
{
	struct daemon *d = arg;

	log_error("%s/lock was removed while this daemon was running; stopping, so that no other "
	    "rld misses what it records; running agents continue under rl-shim", d->places.state_dir);
	d->failed = true;
	stop(d);
}

static void results_cb(void *arg, char *lost)
{
	struct daemon *d = arg;

	d->results = NULL;
	d->lost = lost;
}

static void open_store(struct daemon *d)
{
	char *path = xasprintf("%s/rld.db", d->places.state_dir), error[512];

	d->host.store = store_open(&d->loop, path, space, d, error, sizeof(error));
	if (d->host.store == NULL)
		log_fatal("%s", error);
	free(path);
}

static void open_engine(struct daemon *d)
{
	struct engine_options options = {
		.state_dir = d->places.state_dir,
		.config_dir = d->places.config_dir,
		.socket = d->socket,
		.instance = d->instance,
		.shim = d->shim,
		.rl_git = d->rl_git,
		.parallel = config_parallel(d->config),
	};
	struct ports ports;

	host_ports_fill(&d->host, &ports);
	d->engine = engine_new(&ports, &options, committed, d);
}

static void open_proc(struct daemon *d)
{
	char *attempts = xasprintf("%s/attempts", d->places.state_dir);

	d->host.proc = proc_new(&d->loop, attempts, d->shim, &engine_proc_sink, d->engine);
	proc_set_inherited(d->host.proc, d->umask, d->nofile, d->core);
	free(attempts);
}

static void open_keeper(struct daemon *d)
{
	struct keeper_options options = {
		.loop = &d->loop,
		.store = d->host.store,
		.engine = d->engine,
		.config = (const struct config *const *)&d->config,
		.state_dir = d->places.state_dir,
		.committed = kept,
		.arg = d,
	};

	d->keeper = keeper_new(&options);
}

static void open_rpc(struct daemon *d)
{
	struct rpc_options options = {
		.loop = &d->loop,
		.engine = d->engine,
		.store = d->host.store,
		.keeper = d->keeper,
		.config = (const struct config *const *)&d->config,
		.state_dir = d->places.state_dir,
		.config_file = d->places.config_file,
		.system = d->places.system,
		.shim = d->shim,
		.rl_git = d->rl_git,
		.unknown = d->unknown,
		.lost = (const char *const *)&d->lost,
		.version = RLD_VERSION,
		.instance = d->instance,
		.stop = stop_requested,
		.reload = reload,
		.arg = d,
		.started_at = clock_wall(),
	};
	char error[512];

	d->rpc = rpc_new(&options);
	for (int i = 0; i < 2; i++)
		if (d->places.socket[i] != NULL && rpc_listen(d->rpc, d->places.socket[i], i == 0 ? d->inherited : -1,
		    error, sizeof(error)) == -1)
			log_fatal("%s", error);
}

static void watch_signals(struct daemon *d)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };

	signal(SIGPIPE, SIG_IGN);
	/* return the memory of large prompts and answers to the system */
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	signal(SIGXFSZ, SIG_IGN);	/* treat a file size limit like a full disk */
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int rv = uv_signal_init(&d->loop, &d->signals[i]);

		d->signals[i].data = d;
		if (rv == 0)
			rv = uv_signal_start(&d->signals[i], signal_cb, numbers[i]);
		if (rv != 0)
			log_fatal("cannot watch for signals: %s", uv_strerror(rv));
	}
	uv_timer_init(&d->loop, &d->deadline);
	d->deadline.data = d;
	uv_check_init(&d->loop, &d->drained);
	d->drained.data = d;
}

static void take_notify_socket(struct daemon *d)
{
	d->notify_socket = xstrdup(getenv("NOTIFY_SOCKET"));
	unsetenv("NOTIFY_SOCKET");
}

/* Before anything else opens files. */
static void take_inherited_socket(struct daemon *d, const struct places_given *given)
{
	char *path, error[512];

	d->inherited = inherited_socket_take(&path, error, sizeof(error));
	if (d->inherited == INHERITED_REFUSED ||
	    (d->inherited != INHERITED_NONE && places_inherit(&d->places, given, path, error) == -1)) {
		log_error("fatal: %s", error);
		exit(EX_CONFIG);
	}
}

static int run(struct daemon *d)
{
	struct config_error config_error = { 0 };
	char error[512];
	int rv;

	if (config_load(&d->config, d->places.config_file, d->explicit_config, &config_error) == -1) {
		log_error("fatal: %s", config_error.text);
		rpc_refuse_waiting(d->inherited, config_error.text);
		return EX_CONFIG;
	}
	take_notify_socket(d);
	startup_agents(d->config);
	if (agent_user()->apart)
		d->umask = 002;		/* rld is in the group of the agents */
	state_dir_make(&d->places);
	d->lock = state_lock_take(d->places.state_dir, error, sizeof(error));
	if (d->lock == -1)
		log_fatal("%s", error);
	rv = uv_loop_init(&d->loop);
	if (rv != 0)
		log_fatal("cannot start the event loop: %s", uv_strerror(rv));
	d->host.loop = &d->loop;
	open_store(d);
	d->instance = startup_instance(d->host.store, d->places.state_dir);
	d->shim = find_helper("rl-shim");
	d->rl_git = find_helper("rl-git");
	open_engine(d);
	startup_configure(d->engine, d->config);
	open_proc(d);
	startup_limits(&d->loop, d->host.proc, d->config);
	d->unknown = startup_rows(d->host.store, d->engine, d->places.state_dir);
	d->results = results_load(d->host.store);
	watch_signals(d);
	open_keeper(d);
	open_rpc(d);
	engine_recover(d->engine);
	keeper_start(d->keeper);
	results_look(d->results, &d->loop, results_cb, d);
	d->watch = state_watch_new(&d->loop, d->lock, state_gone, d);
	log_info("rld " RLD_VERSION " is ready: %s, state in %s", d->places.socket[0], d->places.state_dir);
	notify_ready(d->notify_socket, "ready");
	d->watchdog = watchdog_new(&d->loop, d->host.store, d->notify_socket);
	uv_run(&d->loop, UV_RUN_DEFAULT);

	if (d->timed_out)
		_exit(d->failed);
	store_close(d->host.store);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	keeper_free(d->keeper);
	engine_free(d->engine);
	uv_loop_close(&d->loop);
	config_free(d->config);
	free(d->notify_socket);
	free(d->instance);
	free(d->shim);
	free(d->rl_git);
	free(d->unknown);
	free(d->lost);
	places_release(&d->places);
	close(d->lock);
	return d->failed;
}

int main(int argc, char *argv[], char *envp[])
{
	static struct daemon d;
	struct options o = { 0 };
	char error[512];

	std_fds_reserve();
	json_memory_begin();
	setproctitle_init(argc, argv, envp);
	options_parse(argc, argv, &o);
	if (o.print_openrpc)
		return rpc_print_openrpc(RLD_VERSION);
	if (places_find(&d.places, &o.given, getenv, error) == -1) {
		fprintf(stderr, "rld: %s\n", error);
		return 1;
	}
	if (o.check_config || o.print_agents)
		return report_config(&d.places, &o);
	log_set_journal(journal_open(getenv("JOURNAL_STREAM"), STDERR_FILENO, JOURNAL_SOCKET));
	take_inherited_socket(&d, &o.given);
	d.explicit_config = o.given.config != NULL;
	/* the second one survives a logout */
	d.socket = d.places.socket[o.given.socket == NULL && d.places.socket[1] != NULL];
	set_limits(&d);
	return run(&d);
}
