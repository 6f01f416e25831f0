/* SPDX-License-Identifier: MIT */
#include "client/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "proto/memory.h"

/* Alternate screen, no cursor, no wrapping at the right edge, pasted text marked, cleared; and how
 * to undo that. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[?2004h\033[H\033[2J"
#define LEAVE "\033[0m\033[?2004l\033[?7h\033[?25h\033[?1049l"

#define PASTE_BEGINS 200	/* ESC [ 200 ~ */
#define PASTE_ENDS 201
#define NUMBER_MAX 1000

#define USUAL_COLUMNS 80
#define USUAL_LINES 24

static struct {
	/* known: `before` holds the initial state of the terminal */
	bool known, open, registered;
	struct termios before;
	char **shown;			/* lines on the screen; NULL: unknown */
	size_t count;
	char input[64];			/* bytes read, not processed yet */
	size_t from, to;
	int sequence;			/* 1: after ESC; 2: after ESC [ or ESC O */
	int number;			/* the parameter of the sequence */
	bool pasting;
} terminal;

bool terminal_usable(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && term != NULL &&
	    *term != '\0' && strcmp(term, "dumb") != 0;
}

static void write_all(const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(STDOUT_FILENO, data, size);

		if (n == -1 && errno == EAGAIN) {
			struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

			poll(&p, 1, -1);
			continue;
		}
		if (n == -1 && errno != EINTR)
			return;	/* the terminal is gone; a signal reports that, too */
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
}

/* Only async-signal-safe calls. */
static void give_back(void)
{
	if (!terminal.open)
		return;
	terminal.open = false;
	write_all(LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

static void terminal_die(int signal)
{
	give_back();
	raise(signal);	/* SA_RESETHAND has restored the default action */
}

static void restore_whatever_happens(void)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction action = { .sa_handler = terminal_die, .sa_flags = (int)SA_RESETHAND };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		sigaction(deadly[i], &action, NULL);
	atexit(terminal_close);
}

int terminal_open(void)
{
	struct termios raw;

	if (!terminal.known && tcgetattr(STDIN_FILENO, &terminal.before) == -1)
		return -errno;
	terminal.known = true;
	if (!terminal.registered)
		restore_whatever_happens();
	terminal.registered = true;
	raw = terminal.before;
	/* keep Ctrl-C and Ctrl-Z as signals */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	terminal.open = true;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) == -1) {
		terminal.open = false;
		return -errno;
	}
	write_all(ENTER, sizeof(ENTER) - 1);
	terminal_forget();
	return 0;
}

void terminal_close(void)
{
	give_back();
	terminal_forget();
}

void terminal_size(size_t *columns, size_t *lines)
{
	struct winsize size;
	bool told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;

	*columns = told && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
	*lines = told && size.ws_row > 0 ? size.ws_row : USUAL_LINES;
}

void terminal_forget(void)
{
	for (size_t i = 0; i < terminal.count; i++)
		free(terminal.shown[i]);
	free(terminal.shown);
	terminal.shown = NULL;
	terminal.count = 0;
}

static bool stands_there(size_t i, const char *line)
{
	return i < terminal.count && strcmp(terminal.shown[i], line) == 0;
}

void terminal_draw(char *const *lines, size_t count)
{
	struct buf out = { 0 };

	if (terminal.count != count) {
		buf_adds(&out, "\033[H\033[2J");
		terminal_forget();
	}
	for (size_t i = 0; i < count; i++) {
		char *at;

		if (stands_there(i, lines[i]) || (terminal.count == 0 && *lines[i] == '\0'))
			continue;
		/* erase before writing: after a full line the cursor is still on its last
		 * character */
		at = xasprintf("\033[%zu;1H\033[2K%s", i + 1, lines[i]);
		buf_adds(&out, at);
		free(at);
	}
	write_all(out.data, out.size);
	free(out.data);
	terminal_forget();
	terminal.shown = xreallocarray(NULL, count, sizeof(*terminal.shown));
	terminal.count = count;
	for (size_t i = 0; i < count; i++)
		terminal.shown[i] = xstrdup(lines[i]);
}

#define ESCAPE_MS 50	/* what belongs to one key comes within this time */

/* One more byte, waiting only within a key. 1; 0: none available; -1: end of input. */
static int next_byte(char *c)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	ssize_t n;

	if (terminal.from == terminal.to) {
		if (poll(&p, 1, terminal.sequence != 0 ? ESCAPE_MS : 0) <= 0)
			return 0;
		n = read(STDIN_FILENO, terminal.input, sizeof(terminal.input));
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			return 0;
		if (n <= 0)
			return -1;
		terminal.from = 0;
		terminal.to = (size_t)n;
	}
	*c = terminal.input[terminal.from++];
	return 1;
}

/* The last byte of a known key's sequence, with and without "application mode", and its number. */
static enum key key_of_sequence(char last, int number)
{
	static const struct {
		char last;
		int number;
		enum key key;
	} keys[] = {
		{ 'A', 0, KEY_UP }, { 'B', 0, KEY_DOWN }, { 'C', 0, KEY_RIGHT }, { 'D', 0, KEY_LEFT },
		{ 'H', 0, KEY_HOME }, { 'F', 0, KEY_LAST }, { '~', 1, KEY_HOME }, { '~', 4, KEY_LAST },
		{ '~', 5, KEY_PAGE_UP }, { '~', 6, KEY_PAGE_DOWN }, { '~', 7, KEY_HOME }, { '~', 8, KEY_LAST },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].last == last && keys[i].number == number)
			return keys[i].key;
	return KEY_NONE;
}

static enum key end_sequence(char last)
{
	int number = last == '~' ? terminal.number : 0;

	terminal.sequence = 0;
	if (number == PASTE_BEGINS || number == PASTE_ENDS)
		terminal.pasting = number == PASTE_BEGINS;
	return terminal.pasting ? KEY_NONE : key_of_sequence(last, number);
}

/* KEY_NONE: *c is part of a sequence, or not a known key. */
static enum key take_byte(char *at)
{
	enum key key = KEY_NONE;
	char c = *at;

	if (terminal.sequence == 1 && (c == '[' || c == 'O')) {
		terminal.sequence = 2;
		terminal.number = 0;
		return KEY_NONE;
	}
	/* Escape followed by a key: treat it like the key alone */
	if (terminal.sequence == 1)
		terminal.sequence = 0;
	if (terminal.sequence == 2) {
		if (c >= '0' && c <= '9' && terminal.number < NUMBER_MAX)
			terminal.number = terminal.number * 10 + c - '0';
		if (c < 0x40 || c > 0x7e)
			return KEY_NONE;	/* parameters of the sequence */
		key = end_sequence(c);
	} else if (c == '\033') {
		terminal.sequence = 1;
	} else if (terminal.pasting) {
		if (c == '\r')
			*at = '\n';
		key = (unsigned char)*at >= 0x20 || *at == '\n' || *at == '\t' ? KEY_PASTED : KEY_NONE;
	} else if (c == '\n' || c == '\r') {
		key = KEY_ENTER;
	} else if (c == 0x7f || c == '\b') {
		key = KEY_BACKSPACE;
	} else if (c == 0x04) {
		key = KEY_END;
	} else if ((unsigned char)c >= 0x20) {
		key = KEY_TEXT;
	}
	return key;
}

enum key terminal_key(char *c)
{
	enum key key = KEY_NONE;
	int got;

	while (key == KEY_NONE && (got = next_byte(c)) != 0) {
		if (got == -1)
			return KEY_END;
		key = take_byte(c);
	}
	if (key == KEY_NONE && terminal.sequence == 1) {
		terminal.sequence = 0;
		return KEY_ESCAPE;
	}
	return key;
}
