/* SPDX-License-Identifier: MIT */
#include "client/silence.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/exit.h"
#include "client/host.h"
#include "client/message.h"
#include "proto/call.h"
#include "proto/memory.h"
#include "proto/units.h"

#define LIMIT_MS 30000
#define TELL_MS 5000
#define TELL_PART 6		/* of a short limit */

static int64_t limit_ms = LIMIT_MS;

int silence_init(void)
{
	const char *text = getenv("RLD_ANSWER_TIMEOUT");

	if (text == NULL || *text == '\0')
		return 0;
	if (duration_parse(text, &limit_ms) != 0) {
		message_error("RLD_ANSWER_TIMEOUT must be a duration such as 30s; 0 waits without a limit");
		return EXIT_USAGE;
	}
	return 0;
}

/* The state of a process, as in proc(5); 0: unknown. */
static char process_state(int pid)
{
	char *path = xasprintf("/proc/%d/stat", pid), text[512] = "";
	FILE *file = fopen(path, "re");
	const char *end;

	free(path);
	if (file == NULL)
		return 0;
	if (fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end != NULL && end[1] == ' ' ? end[2] : 0;
}

/* arg: the process ID. */
static void tell_process(void *arg)
{
	int pid = (int)(intptr_t)arg;
	char state = process_state(pid);

	if (state == 'T' || state == 't')
		message_note("rld (process %d) does not answer: it is stopped; \"kill -CONT %d\" lets it continue",
		    pid, pid);
	else
		message_note("rld (process %d) does not answer; see its log, or restart it: agents keep running", pid);
}

static void tell_host(void *arg)
{
	const struct host *host = arg;

	message_note("%s does not answer; \"ssh %s true\" shows whether the machine can be reached", host->target,
	    host->target);
}

void silence_watch(struct call_conn *conn, const struct host *host)
{
	int64_t part = limit_ms / TELL_PART;
	struct call_patience patience = {
		.limit_ms = limit_ms,
		.tell_ms = limit_ms == 0 || part > TELL_MS ? TELL_MS : part,
		.tell = host != NULL ? tell_host : tell_process,
		.arg = host != NULL ? (void *)host : (void *)(intptr_t)call_pid(conn),
	};

	call_set_patience(conn, &patience);
}
