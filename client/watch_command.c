/* SPDX-License-Identifier: MIT */
/* rlctl watch: watch one run, or the list of unfinished runs. Full screen on a terminal, otherwise
 * a line per event. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/lines.h"
#include "client/message.h"
#include "client/screen.h"
#include "client/terminal.h"
#include "client/watch_data.h"
#include "client/watch_lines.h"
#include "proto/call.h"
#include "proto/clock.h"
#include "proto/memory.h"

#define FRAME_MS 100	/* between two draws */
#define LOAD_MS 200	/* between two requests for the documents: events come in bursts */
#define TICK_MS 1000	/* ages change, and output makes no events */

struct watch {
	struct client *client;
	struct watch_data data;
	struct screen_choice choice;	/* for a run */
	size_t chosen;			/* for the list */
	int quit;			/* signalfd of the signals that end rlctl ... */
	int other;			/* ... and of the terminal's */
	size_t columns, lines;
	bool dirty;			/* the screen is out of date */
	int64_t loaded, drawn, ticked;	/* monotonic times */
	int signal;			/* the signal that ended the loop, 0: none */
	struct call_error error;
};

enum watch_end { GO_ON, END_QUIT, END_GONE, END_REFUSED };

/* Receive these signals by a descriptor from now on. */
static int catch_signals(const int *signals, size_t count)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < count; i++)
		sigaddset(&set, signals[i]);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd == -1)
		message_die("signalfd");
	sigprocmask(SIG_BLOCK, &set, NULL);
	return fd;
}

/* Let the signal take its default action. Returns if execution continues after it. */
static void give_in(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void watch_draw(struct watch *w, int64_t now)
{
	struct watch_data *d = &w->data;
	struct lines l;

	terminal_size(&w->columns, &w->lines);
	lines_init(&l, w->columns, w->client->out.color);
	if (d->run == FIELD_NONE) {
		screen_list(&l, d->runs, w->chosen, clock_wall(), w->lines);
	} else {
		struct view view = { d->document, d->attempts, d->previews, d->reviews, d->last, clock_wall() };

		screen_run(&l, &view, &w->choice, w->lines);
	}
	terminal_draw(l.line, l.count);
	lines_release(&l);
	w->dirty = false;
	w->drawn = now;
}

/* Number of slots with room for output: a block needs at least two lines. */
static size_t slots_with_room(const struct watch *w)
{
	return w->lines / 2;
}

static enum watch_end watch_after(const struct watch *w, enum watch_result result)
{
	struct pollfd p = { .fd = w->quit, .events = POLLIN };

	if (result == WATCH_OK)
		return GO_ON;
	if (result == WATCH_REFUSED)
		return END_REFUSED;
	/* an interrupted call looks like a daemon that has disappeared */
	return poll(&p, 1, 0) > 0 ? GO_ON : END_GONE;
}

static enum watch_end watch_load(struct watch *w)
{
	enum watch_end end = watch_after(w, watch_data_load(&w->data, w->choice.slot, slots_with_room(w), &w->error));
	size_t count = json_array_size(w->data.runs), slot = w->choice.slot;

	if (end != GO_ON)
		return end;
	if (w->chosen >= count)
		w->chosen = count > 0 ? count - 1 : 0;
	screen_follow(&w->choice, w->data.document);
	w->data.stale |= w->choice.slot != slot;	/* it was the review of another slot */
	w->loaded = w->ticked = clock_steady();
	w->dirty = true;
	return GO_ON;
}

/* FIELD_NONE: the list. */
static enum watch_end look_at(struct watch *w, int64_t run)
{
	enum watch_end end = watch_after(w, watch_data_follow(&w->data, run, &w->error));

	w->choice = (struct screen_choice){ .slot = 0 };
	return end == GO_ON ? watch_load(w) : end;
}

/* ---- keys ---- */

static void choose_slot(struct watch *w, size_t slot)
{
	screen_choose(&w->choice, w->data.document, slot);
	w->data.stale = true;
	w->loaded = 0;
}

/* The slot with this number. */
static void choose_number(struct watch *w, int64_t number)
{
	const json_t *slots = field_array(w->data.document, "slots");

	for (size_t i = 0; i < json_array_size(slots); i++)
		if (field_int(json_array_get(slots, i), "slot") == number)
			choose_slot(w, i);
}

static enum watch_end run_key(struct watch *w, enum key key, char c)
{
	if (key == KEY_UP && w->choice.slot > 0)
		choose_slot(w, w->choice.slot - 1);
	else if (key == KEY_DOWN)
		choose_slot(w, w->choice.slot + 1);
	else if (key == KEY_TEXT && c >= '0' && c <= '9')
		choose_number(w, c - '0');
	else if (key == KEY_TEXT && c == 'r')
		screen_turn(&w->choice);
	else if (key == KEY_LEFT || key == KEY_BACKSPACE || (key == KEY_TEXT && c == 'b'))
		return look_at(w, FIELD_NONE);
	return GO_ON;
}

static enum watch_end list_key(struct watch *w, enum key key)
{
	if (key == KEY_UP && w->chosen > 0)
		w->chosen--;
	else if (key == KEY_DOWN && w->chosen + 1 < json_array_size(w->data.runs))
		w->chosen++;
	else if ((key == KEY_ENTER || key == KEY_RIGHT) && w->chosen < json_array_size(w->data.runs))
		return look_at(w, field_int(json_array_get(w->data.runs, w->chosen), "id"));
	return GO_ON;
}

static enum watch_end take_keys(struct watch *w)
{
	enum watch_end end = GO_ON;
	enum key key;
	char c = 0;

	while (end == GO_ON && (key = terminal_key(&c)) != KEY_NONE) {
		if (key == KEY_END || (key == KEY_TEXT && c == 'q'))
			return END_QUIT;
		end = w->data.run == FIELD_NONE ? list_key(w, key) : run_key(w, key, c);
		w->dirty = true;
	}
	return end;
}

/* ---- the loop ---- */

/* Signals of the terminal, or of the shell that owns it. */
static void take_signals(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->other, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTSTP) {
			terminal_close();
			give_in(SIGTSTP);
		}
		/* stopped and continued: the shell may have used the terminal in between */
		if (info.ssi_signo != SIGWINCH)
			terminal_open();
		terminal_forget();
		w->dirty = true;
	}
}

static int64_t watch_sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Time until the next work, as a timeout for poll(). */
static int watch_rest(const struct watch *w, int64_t now)
{
	int64_t due = INT64_MAX;

	if (w->data.stale)
		due = watch_sooner(due, w->loaded + LOAD_MS);
	if (w->dirty)
		due = watch_sooner(due, w->drawn + FRAME_MS);
	if (watch_data_is_live(&w->data))
		due = watch_sooner(due, w->ticked + TICK_MS);
	return due == INT64_MAX ? -1 : due <= now ? 0 : (int)(due - now);
}

/* Do what is due. */
static enum watch_end watch_work(struct watch *w, int64_t now)
{
	if (w->data.stale && now >= w->loaded + LOAD_MS)
		return watch_load(w);
	if (watch_data_is_live(&w->data) && now >= w->ticked + TICK_MS) {
		w->ticked = now;
		w->dirty = true;
		if (w->data.run != FIELD_NONE)
			return watch_after(w, watch_data_tick(&w->data, w->choice.slot, slots_with_room(w)));
	}
	if (w->dirty && now >= w->drawn + FRAME_MS)
		watch_draw(w, now);
	return GO_ON;
}

/* Returns false if no signal asks for the end. A call that was interrupted for one leaves the
 * signal pending. */
static bool take_quit(struct watch *w)
{
	struct signalfd_siginfo info;

	if (read(w->quit, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	w->signal = (int)info.ssi_signo;
	return true;
}

static enum watch_end watch_loop(struct watch *w)
{
	enum watch_end end;

	for (;;) {
		struct pollfd p[] = {
			{ .fd = call_fd(w->client->conn), .events = POLLIN }, { .fd = STDIN_FILENO, .events = POLLIN },
			{ .fd = w->quit, .events = POLLIN }, { .fd = w->other, .events = POLLIN },
		};

		end = watch_work(w, clock_steady());
		/* a call may have read events already, so poll() would not report them */
		if (end == GO_ON)
			end = watch_after(w, watch_data_events(&w->data));
		if (end != GO_ON)
			return end;
		poll(p, ARRAY_SIZE(p), watch_rest(w, clock_steady()));
		if (take_quit(w))
			return END_QUIT;
		take_signals(w);
		if (p[1].revents != 0 && (end = take_keys(w)) != GO_ON)
			return end;
	}
}

static int print_end(const struct watch *w, enum watch_end end)
{
	int64_t run = w->data.run;

	switch (end) {
	case GO_ON:
	case END_QUIT:
		break;
	case END_GONE:
		if (run == FIELD_NONE)
			message_error("the daemon disappeared; its agents continue");
		else
			message_error("the daemon disappeared; run %lld and its agents continue. \"rlctl "
			    "watch %lld\" resumes",
			    (long long)run, (long long)run);
		return EXIT_NO_DAEMON;
	case END_REFUSED:
		message_refused(&w->error, NULL, false);
		return EXIT_REFUSED;
	}
	return EXIT_DONE;
}

static int watch_screen(struct client *c, int64_t run)
{
	static const int quits[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT }, others[] = { SIGWINCH, SIGTSTP, SIGCONT };
	struct watch w = { .client = c };
	enum watch_end end;
	int status;

	w.quit = catch_signals(quits, ARRAY_SIZE(quits));
	w.other = catch_signals(others, ARRAY_SIZE(others));
	call_give_up_on(c->conn, w.quit);
	watch_data_init(&w.data, c->conn);
	terminal_size(&w.columns, &w.lines);
	/* print errors before taking the screen over */
	end = look_at(&w, run);
	if (end == GO_ON) {
		status = terminal_open();
		if (status != 0) {
			errno = -status;
			message_die("the terminal");
		}
		end = watch_loop(&w);
		terminal_close();
	}
	if (w.signal == 0)
		take_quit(&w);
	status = print_end(&w, end);
	watch_data_release(&w.data);
	close(w.quit);
	close(w.other);
	/* Ctrl-C is a normal way to leave; other signals take their default action */
	if (w.signal != 0 && w.signal != SIGINT)
		give_in(w.signal);
	return status;
}

int watch_command(struct client *c)
{
	int64_t run = FIELD_NONE;
	int status = 0;

	if (c->options.count > 0)
		status = client_parse_run(c->options.arguments[0], &run, NULL);
	if (status == 0)
		status = client_connect(c);
	if (status != 0)
		return status;
	return terminal_usable() && !c->json ? watch_screen(c, run) : watch_lines(c, run);
}
