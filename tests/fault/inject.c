/* SPDX-License-Identifier: MIT */
/* inject [OPTION]... COMMAND [ARG]...: COMMAND, in whose process tree one system call goes wrong.
 *
 *   -p PROGRAM   count only calls of the program of this name
 *   -c CALL      count only calls of this name, such as openat
 *   -g GROUPS    count only calls of these groups: d (durable), r (reads and looks at files),
 *                s (sockets, pipes), p (processes, descriptors), m (memory)
 *   -d DIR       of calls that name a file, count only those below DIR
 *   -n N         the call that goes wrong, the first being 1; 0: none, all are only listed
 *   -a ACTION    before: SIGKILL instead of it; after: SIGKILL when it is done; short: half of
 *                its bytes; ENOSPC, EIO, ...: it is not done and fails so
 *   -k           every call that is counted after it goes wrong as well
 *   -f FILE      nothing goes wrong after FILE is gone
 *   -l LOG       a line "N PROGRAM CALL GROUP PATH" for each call that went wrong, or is listed
 *
 * COMMAND keeps this process ID: the tracer is a process of its own, which ends with the last of
 * the tree. Static programs are reached as well, because it is ptrace, not a library; a filter
 * stops only the calls that are counted. Of x86-64 Linux. Status 77: that is not possible here. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 77 };

#ifndef __x86_64__
int main(void)
{
	fprintf(stderr, "inject: only for x86-64\n");
	return CANNOT;
}
#else

enum names_what { NAMES_NOTHING, NAMES_FD, NAMES_PATH, NAMES_AT };

static const struct call {
	long number;
	const char *name;
	char group;		/* 'f': d, r or s, as the file is and as it is opened */
	enum names_what names;
	int at;			/* which argument: descriptor, path, or directory before the path */
	int size;		/* which argument is a size that can be short; 0: none */
} calls[] = {
#define CALL(name, ...) { SYS_##name, #name, __VA_ARGS__ }
	CALL(fsync, 'd', NAMES_FD, 0, 0), CALL(fdatasync, 'd', NAMES_FD, 0, 0),
	CALL(syncfs, 'd', NAMES_FD, 0, 0), CALL(sync_file_range, 'd', NAMES_FD, 0, 0),
	CALL(ftruncate, 'd', NAMES_FD, 0, 0), CALL(fallocate, 'd', NAMES_FD, 0, 0),
	CALL(pwrite64, 'd', NAMES_FD, 0, 2), CALL(pwritev, 'd', NAMES_FD, 0, 0),
	CALL(copy_file_range, 'd', NAMES_FD, 2, 4), CALL(sendfile, 'd', NAMES_FD, 0, 3),
	CALL(rename, 'd', NAMES_PATH, 1, 0), CALL(renameat, 'd', NAMES_AT, 2, 0),
	CALL(renameat2, 'd', NAMES_AT, 2, 0), CALL(unlink, 'd', NAMES_PATH, 0, 0),
	CALL(unlinkat, 'd', NAMES_AT, 0, 0), CALL(rmdir, 'd', NAMES_PATH, 0, 0),
	CALL(mkdir, 'd', NAMES_PATH, 0, 0), CALL(mkdirat, 'd', NAMES_AT, 0, 0),
	CALL(link, 'd', NAMES_PATH, 1, 0), CALL(linkat, 'd', NAMES_AT, 2, 0),
	CALL(symlink, 'd', NAMES_PATH, 1, 0), CALL(symlinkat, 'd', NAMES_AT, 1, 0),
	CALL(chmod, 'd', NAMES_PATH, 0, 0), CALL(fchmod, 'd', NAMES_FD, 0, 0),
	CALL(fchmodat, 'd', NAMES_AT, 0, 0), CALL(fchown, 'd', NAMES_FD, 0, 0),
	CALL(fchownat, 'd', NAMES_AT, 0, 0), CALL(write, 'f', NAMES_FD, 0, 2),
	CALL(writev, 'f', NAMES_FD, 0, 0), CALL(open, 'f', NAMES_PATH, 0, 0), CALL(openat, 'f', NAMES_AT, 0, 0),
	CALL(creat, 'd', NAMES_PATH, 0, 0), CALL(read, 'f', NAMES_FD, 0, 2), CALL(readv, 'f', NAMES_FD, 0, 0),
	CALL(pread64, 'r', NAMES_FD, 0, 2), CALL(getdents64, 'r', NAMES_FD, 0, 0),
	CALL(readlink, 'r', NAMES_PATH, 0, 0), CALL(readlinkat, 'r', NAMES_AT, 0, 0),
	CALL(stat, 'r', NAMES_PATH, 0, 0), CALL(lstat, 'r', NAMES_PATH, 0, 0), CALL(fstat, 'r', NAMES_FD, 0, 0),
	CALL(newfstatat, 'r', NAMES_AT, 0, 0), CALL(statx, 'r', NAMES_AT, 0, 0),
	CALL(access, 'r', NAMES_PATH, 0, 0), CALL(faccessat2, 'r', NAMES_AT, 0, 0),
	CALL(statfs, 'r', NAMES_PATH, 0, 0), CALL(flock, 'r', NAMES_FD, 0, 0),
	CALL(recvmsg, 's', NAMES_NOTHING, 0, 0), CALL(sendmsg, 's', NAMES_NOTHING, 0, 0),
	CALL(sendto, 's', NAMES_NOTHING, 0, 2), CALL(recvfrom, 's', NAMES_NOTHING, 0, 2),
	CALL(connect, 's', NAMES_NOTHING, 0, 0), CALL(accept4, 's', NAMES_NOTHING, 0, 0),
	CALL(socket, 's', NAMES_NOTHING, 0, 0), CALL(socketpair, 's', NAMES_NOTHING, 0, 0),
	CALL(pipe2, 's', NAMES_NOTHING, 0, 0), CALL(bind, 's', NAMES_NOTHING, 0, 0),
	CALL(listen, 's', NAMES_NOTHING, 0, 0), CALL(epoll_wait, 's', NAMES_NOTHING, 0, 0),
	CALL(epoll_pwait, 's', NAMES_NOTHING, 0, 0), CALL(poll, 's', NAMES_NOTHING, 0, 0),
	CALL(ppoll, 's', NAMES_NOTHING, 0, 0), CALL(clone, 'p', NAMES_NOTHING, 0, 0),
	CALL(clone3, 'p', NAMES_NOTHING, 0, 0), CALL(fork, 'p', NAMES_NOTHING, 0, 0),
	CALL(vfork, 'p', NAMES_NOTHING, 0, 0), CALL(execve, 'p', NAMES_NOTHING, 0, 0),
	CALL(wait4, 'p', NAMES_NOTHING, 0, 0), CALL(waitid, 'p', NAMES_NOTHING, 0, 0),
	CALL(pidfd_open, 'p', NAMES_NOTHING, 0, 0), CALL(epoll_create1, 'p', NAMES_NOTHING, 0, 0),
	CALL(eventfd2, 'p', NAMES_NOTHING, 0, 0), CALL(signalfd4, 'p', NAMES_NOTHING, 0, 0),
	CALL(timerfd_create, 'p', NAMES_NOTHING, 0, 0), CALL(inotify_init1, 'p', NAMES_NOTHING, 0, 0),
	CALL(dup, 'p', NAMES_NOTHING, 0, 0), CALL(dup2, 'p', NAMES_NOTHING, 0, 0),
	CALL(dup3, 'p', NAMES_NOTHING, 0, 0), CALL(mmap, 'm', NAMES_NOTHING, 0, 0),
	CALL(mremap, 'm', NAMES_NOTHING, 0, 0), CALL(brk, 'm', NAMES_NOTHING, 0, 0),
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static const struct {
	const char *name;
	int number;
} errors[] = {
	{ "EIO", EIO }, { "ENOSPC", ENOSPC }, { "EMFILE", EMFILE }, { "ENFILE", ENFILE }, { "ENOMEM", ENOMEM },
	{ "EINTR", EINTR }, { "EROFS", EROFS }, { "EDQUOT", EDQUOT }, { "EACCES", EACCES }, { "EAGAIN", EAGAIN },
};

static const char *program, *call_name, *groups = "dr", *dir, *flag, *action = "";
static long at, counted;
static bool sticky, started;
static int failure, log_fd = -1;

/* What a link of the process leads to: name, or its descriptor when there is none. */
static void link_text(char *text, size_t size, int pid, const char *name, int fd)
{
	char path[64];
	ssize_t n;

	if (name != NULL)
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	n = readlink(path, text, size - 1);
	text[n < 0 ? 0 : n] = '\0';
}

static unsigned long long argument(const struct user_regs_struct *regs, int i)
{
	const unsigned long long all[] = { regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9 };

	return all[i];
}

static void read_text(int pid, unsigned long long address, char *text, size_t size)
{
	for (size_t n = 0; n < size; n += 64) {		/* a path may end where nothing is mapped */
		struct iovec to = { text + n, size - n < 64 ? size - n : 64 };
		struct iovec from = { (void *)(address + n), to.iov_len };
		ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);

		if (got <= 0) {
			for (from.iov_len = to.iov_len = 1; n < size - 1; n++) {
				to.iov_base = text + n;
				from.iov_base = (void *)(address + n);
				if (process_vm_readv(pid, &to, 1, &from, 1, 0) != 1 || text[n] == '\0')
					break;
			}
			text[n] = '\0';
			return;
		}
		if (memchr(text + n, '\0', (size_t)got) != NULL)
			return;
	}
	text[size - 1] = '\0';
}

/* The file of a call, absolute; "" when it names none. */
static void named_file(int pid, const struct call *call, const struct user_regs_struct *regs, char *text)
{
	char path[PATH_MAX], from[PATH_MAX];
	int fd = AT_FDCWD;

	text[0] = '\0';
	if (call->names == NAMES_NOTHING)
		return;
	if (call->names == NAMES_FD) {
		link_text(text, PATH_MAX, pid, NULL, (int)argument(regs, call->at));
		return;
	}
	if (call->names == NAMES_AT)
		fd = (int)argument(regs, call->at);
	read_text(pid, argument(regs, call->at + (call->names == NAMES_AT)), path, sizeof(path));
	if (path[0] == '/') {
		snprintf(text, PATH_MAX, "%s", path);
		return;
	}
	link_text(from, sizeof(from), pid, fd == AT_FDCWD ? "cwd" : NULL, fd);
	if (snprintf(text, PATH_MAX, "%s/%s", from, path) >= PATH_MAX)
		text[PATH_MAX - 1] = '\0';
}

static char group_of(const struct call *call, const struct user_regs_struct *regs, const char *file)
{
	int flags;

	if (call->group != 'f')
		return call->group;
	if (call->number == SYS_open || call->number == SYS_openat) {
		flags = (int)argument(regs, call->number == SYS_open ? 1 : 2);
		return (flags & (O_CREAT | O_TRUNC)) != 0 ? 'd' : 'r';
	}
	if (file[0] != '/' || strncmp(file, "/dev/pts", 8) == 0)
		return 's';
	return call->number == SYS_write || call->number == SYS_writev ? 'd' : 'r';
}

static void note(const char *name, const struct call *call, char group, const char *file)
{
	char line[PATH_MAX + 128];
	size_t skip = dir != NULL && strncmp(file, dir, strlen(dir)) == 0 ? strlen(dir) : 0;
	int size = snprintf(line, sizeof(line), "%ld %s %s %c %s\n", counted, name, call->name, group, file + skip);

	if (log_fd != -1 && write(log_fd, line, (size_t)size) == -1)
		perror("inject: log");
}

/* Whether the call is one of those that are counted. */
static bool is_counted(int pid, const struct call *call, const struct user_regs_struct *regs)
{
	char exe[PATH_MAX], file[PATH_MAX];
	const char *name;
	char group;

	link_text(exe, sizeof(exe), pid, "exe", 0);
	name = strrchr(exe, '/') != NULL ? strrchr(exe, '/') + 1 : exe;
	if (!started || (program != NULL && strcmp(name, program) != 0))
		return false;
	named_file(pid, call, regs, file);
	group = group_of(call, regs, file);
	if (strchr(groups, group) == NULL)
		return false;
	if (dir != NULL && file[0] == '/' && strncmp(file, dir, strlen(dir)) != 0)
		return false;
	counted++;
	if (at == 0 || counted == at || (sticky && counted > at))
		note(name, call, group, file);
	return true;
}

/* A call is about to be done: how the process goes on. */
static int at_call(int pid)
{
	struct user_regs_struct regs;
	const struct call *call = calls;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) == -1)
		return PTRACE_CONT;
	while (call < calls + CALLS && call->number != (long)regs.orig_rax)
		call++;
	if (call == calls + CALLS || (flag != NULL && access(flag, F_OK) == -1) || !is_counted(pid, call, &regs) ||
	    at == 0 || !(counted == at || (sticky && counted > at)))
		return PTRACE_CONT;
	if (strcmp(action, "before") == 0) {
		kill(pid, SIGKILL);
		return PTRACE_CONT;
	}
	if (strcmp(action, "after") == 0)
		return PTRACE_SYSCALL;
	if (strcmp(action, "short") == 0) {
		unsigned long long *sizes[] = { &regs.rdi, &regs.rsi, &regs.rdx, &regs.r10, &regs.r8 };

		if (call->size != 0 && *sizes[call->size] > 1)
			*sizes[call->size] /= 2;
	} else {
		regs.orig_rax = (unsigned long long)-1;
		regs.rax = (unsigned long long)-failure;
	}
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
	return PTRACE_CONT;
}

static void stopped(int pid, int status)
{
	int event = status >> 16, signum = WSTOPSIG(status), how = PTRACE_CONT;

	if (event == PTRACE_EVENT_SECCOMP) {
		how = at_call(pid);
		signum = 0;
	} else if (event == PTRACE_EVENT_STOP) {
		if (signum == SIGSTOP || signum == SIGTSTP || signum == SIGTTIN || signum == SIGTTOU)
			how = PTRACE_LISTEN;
		signum = 0;
	} else if (event != 0) {
		started = started || event == PTRACE_EVENT_EXEC;
		signum = 0;
	} else if (signum == (SIGTRAP | 0x80)) {		/* the call is done */
		kill(pid, SIGKILL);
		signum = 0;
	}
	ptrace(how, pid, NULL, signum);
}

static void seize(int first)
{
	const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
	    PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

	if (ptrace(PTRACE_SEIZE, first, NULL, options) == -1) {
		perror("inject: ptrace");
		kill(first, SIGKILL);
		_exit(CANNOT);
	}
}

static void follow(void)
{
	int pid, status;

	while ((pid = waitpid(-1, &status, __WALL)) != -1 || errno == EINTR)
		if (pid > 0 && WIFSTOPPED(status))
			stopped(pid, status);
}

/* Stop at the calls of the table, of the groups that are asked for. */
static void install_filter(void)
{
	struct sock_filter code[2 * CALLS + 2];
	struct sock_fprog filter = { 0, code };
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < CALLS; i++) {
		if ((call_name != NULL && strcmp(call_name, calls[i].name) != 0) ||
		    (calls[i].group != 'f' && strchr(groups, calls[i].group) == NULL))
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter.len = (unsigned short)n;
	if ((geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == -1) {
		perror("inject: seccomp");
		_exit(CANNOT);
	}
}

/* The tracer is no child of what it traces, and has neither its descriptors nor its environment:
 * rld and rl-shim find processes of an attempt by that. */
static void tracer(int first, int ready)
{
	pid_t pid = fork();

	if (pid != 0)
		_exit(pid == -1 ? CANNOT : 0);
	setsid();
	seize(first);
	for (char **at_name = environ; *at_name != NULL; at_name++)
		memset(*at_name, 0, strlen(*at_name));
	if (write(ready, "", 1) == -1)
		_exit(CANNOT);
	for (int fd = 0; fd < 256; fd++)
		if (fd != log_fd && fd != 2)
			close(fd);
	follow();
	_exit(0);
}

static void parse(int argc, char *argv[])
{
	int c;

	while ((c = getopt(argc, argv, "+p:c:g:d:n:a:kf:l:")) != -1) {
		switch (c) {
		case 'p': program = optarg; break;
		case 'c': call_name = optarg; break;
		case 'g': groups = optarg; break;
		case 'd': dir = optarg; break;
		case 'n': at = strtol(optarg, NULL, 10); break;
		case 'a': action = optarg; break;
		case 'k': sticky = true; break;
		case 'f': flag = optarg; break;
		case 'l': log_fd = open(optarg, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); break;
		default: exit(2);
		}
	}
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, action) == 0)
			failure = errors[i].number;
	if (optind == argc || (at != 0 && failure == 0 && strcmp(action, "before") != 0 &&
	    strcmp(action, "after") != 0 && strcmp(action, "short") != 0)) {
		fprintf(stderr, "inject: no command, or no such action: %s\n", action);
		exit(2);
	}
}

int main(int argc, char *argv[])
{
	int pipes[2], self = getpid(), status;
	pid_t pid;
	char byte;

	parse(argc, argv);
	if (pipe2(pipes, O_CLOEXEC) == -1 || (pid = fork()) == -1) {
		perror("inject");
		return CANNOT;
	}
	if (pid == 0)
		tracer(self, pipes[1]);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	close(pipes[1]);
	waitpid(pid, &status, 0);
	if (read(pipes[0], &byte, 1) != 1)
		return CANNOT;
	close(pipes[0]);
	install_filter();
	execvp(argv[optind], argv + optind);
	perror(argv[optind]);
	return 127;
}
#endif
