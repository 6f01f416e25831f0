/* SPDX-License-Identifier: MIT */
#include "client/status_line.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/memory.h"

/* The cursor rests at the beginning of the line. A terminal that became narrower and has wrapped
 * the line leaves it there, and everything from it to the end of the screen is ours. */
#define ERASE "\r\033[J"

/* Signals that end or stop rlctl: the line would stay beside what the shell prints then. */
static const int deadly[] = { SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

static int terminal_fd;

/* SA_RESETHAND has restored the default action. */
static void on_deadly(int signal)
{
	ssize_t n = write(terminal_fd, ERASE, sizeof(ERASE) - 1);

	(void)n;
	raise(signal);
}

static void catch_deadly(void)
{
	const struct sigaction erase = { .sa_handler = on_deadly,
		.sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_RESTART) };

	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
		struct sigaction now;

		/* not what nohup(1) had ignored */
		if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			sigaction(deadly[i], &erase, NULL);
	}
}

bool status_line_usable(const struct print *print)
{
	const char *term = getenv("TERM");

	return print->terminal && term != NULL && *term != '\0' && strcmp(term, "dumb") != 0;
}

size_t status_line_room(const struct status_line *line)
{
	size_t columns = print_columns(line->print->file);

	return columns > 1 ? columns - 1 : 1;
}

static bool is_in_background(int fd)
{
	pid_t foreground = tcgetpgrp(fd);

	return foreground > 0 && foreground != getpgrp();
}

void status_line_draw(struct status_line *line, const char *text)
{
	size_t columns = print_columns(line->print->file);

	if (is_in_background(fileno(line->print->file)) ||
	    (line->shown != NULL && strcmp(line->shown, text) == 0 && line->columns == columns))
		return;
	terminal_fd = fileno(line->print->file);
	catch_deadly();
	text_set(&line->shown, text);
	line->columns = columns;
	fprintf(line->print->file, ERASE "%s\r", text);
	fflush(line->print->file);
}

void status_line_erase(struct status_line *line)
{
	if (line->shown == NULL)
		return;
	text_set(&line->shown, NULL);
	if (is_in_background(fileno(line->print->file)))
		return;
	fputs(ERASE, line->print->file);
	fflush(line->print->file);
}
