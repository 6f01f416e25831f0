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
#include "client/watch.h"
#include "client/watch_data.h"
#include "client/watch_lines.h"
#include "proto/call.h"
#include "proto/clock.h"
#include "proto/memory.h"

#define FRAME_MS 100	/* between two draws */
#define LOAD_MS 200	/* between two requests for the documents: events come in bursts */
#define TICK_MS 1000	/* ages change, and output makes no events */

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

static void draw_page(struct watch *w, struct lines *l)
{
	struct watch_data *d = &w->data;
	char *keys = watch_keys_line(w, w->columns);
	json_t *listed;

	if (w->pager != NULL) {
		pager_draw(l, w->pager, keys, w->lines);
	} else if (d->run == FIELD_NONE) {
		listed = watch_listed(w);
		screen_list(l, listed, w->chosen, w->filter, keys, clock_wall(), w->lines);
		json_decref(listed);
	} else {
		struct view view = { d->document, d->attempts, d->previews, d->reviews, d->last, clock_wall(), keys };

		screen_run(l, &view, &w->choice, w->lines);
	}
	free(keys);
}

static void watch_draw(struct watch *w, int64_t now)
{
	struct lines l, last;

	terminal_size(&w->columns, &w->lines);
	lines_init(&l, w->columns, w->client->out.color);
	lines_init(&last, w->columns, w->client->out.color);
	draw_page(w, &l);
	/* a question or an answer takes the place of the last line */
	if (watch_draw_last(w, &last) && l.count > 0) {
		free(l.line[l.count - 1]);
		l.line[l.count - 1] = xstrdup(last.line[0]);
	}
	terminal_draw(l.line, l.count);
	lines_release(&l);
	lines_release(&last);
	w->dirty = false;
	w->drawn = now;
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
	else if (key == KEY_LEFT || key == KEY_BACKSPACE)
		return watch_look_at(w, FIELD_NONE);
	else
		return watch_take_key(w, key, c);
	return GO_ON;
}

static enum watch_end list_key(struct watch *w, enum key key, char c)
{
	size_t count = watch_count(w), page = w->lines > 3 ? w->lines - 3 : 1;

	if (key == KEY_UP && w->chosen > 0)
		w->chosen--;
	else if (key == KEY_DOWN && w->chosen + 1 < count)
		w->chosen++;
	else if (key == KEY_PAGE_UP)
		w->chosen -= w->chosen < page ? w->chosen : page;
	else if (key == KEY_PAGE_DOWN && count > 0)
		w->chosen = w->chosen + page < count ? w->chosen + page : count - 1;
	else if ((key == KEY_ENTER || key == KEY_RIGHT) && w->chosen < count)
		return watch_look_at(w, field_int(watch_run(w), "id"));
	else if (key == KEY_ESCAPE)
		text_set(&w->filter, NULL);
	else
		return watch_take_key(w, key, c);
	return GO_ON;
}

static enum watch_end page_key(struct watch *w, enum key key, char c)
{
	if (key == KEY_ESCAPE)
		pager_filter(w->pager, NULL);
	else if (key == KEY_LEFT || key == KEY_BACKSPACE)
		watch_close_page(w);
	else if (!pager_key(w->pager, key, c, w->lines))
		return watch_take_key(w, key, c);
	return GO_ON;
}

static enum watch_end take_keys(struct watch *w)
{
	enum watch_end end = GO_ON;
	enum key key;
	char c = 0;

	while (end == GO_ON && (key = terminal_key(&c)) != KEY_NONE) {
		if (key == KEY_END)
			return END_QUIT;
		watch_notice(w, PAINT_NONE, NULL);
		end = w->asking != ASK_NOTHING ? watch_take_key(w, key, c) :
		    w->pager != NULL           ? page_key(w, key, c) :
		    w->data.run == FIELD_NONE  ? list_key(w, key, c) :
		                                 run_key(w, key, c);
		/* another filter, fewer runs */
		if (w->data.run == FIELD_NONE && w->chosen > 0 && w->chosen >= watch_count(w))
			w->chosen = watch_count(w) > 0 ? watch_count(w) - 1 : 0;
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

/* Whether something grows or ages without an event. */
static bool watch_is_live(const struct watch *w)
{
	return watch_data_is_live(&w->data) || (w->attempt != FIELD_NONE && !w->ended);
}

/* Time until the next work, as a timeout for poll(). */
static int watch_rest(const struct watch *w, int64_t now)
{
	int64_t due = INT64_MAX;

	if (w->data.stale)
		due = watch_sooner(due, w->loaded + LOAD_MS);
	if (w->dirty)
		due = watch_sooner(due, w->drawn + FRAME_MS);
	if (w->more)
		due = now;
	if (watch_is_live(w))
		due = watch_sooner(due, w->ticked + TICK_MS);
	return due == INT64_MAX ? -1 : due <= now ? 0 : (int)(due - now);
}

/* Do what is due. */
static enum watch_end watch_work(struct watch *w, int64_t now)
{
	if (w->data.stale && now >= w->loaded + LOAD_MS)
		return watch_load(w);
	if (w->more) {
		w->dirty = true;
		return watch_read_logs(w);
	}
	if (watch_is_live(w) && now >= w->ticked + TICK_MS) {
		w->ticked = now;
		w->dirty = true;
		if (w->pager != NULL)
			return watch_read_logs(w);
		if (w->data.run != FIELD_NONE)
			return watch_after(w, watch_data_tick(&w->data, w->choice.slot, watch_room(w)));
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

/* What was typed for a hold that did not get it. */
static void print_unsent(const struct watch *w)
{
	const struct buf *text = w->asking == ASK_TEXT ? &w->typed : &w->unsent;

	if (text->size > 0)
		message_note("what you typed was not sent: %s", text->data);
}

static int watch_screen(struct client *c, int64_t run)
{
	static const int quits[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT }, others[] = { SIGWINCH, SIGTSTP, SIGCONT };
	struct watch w = { .client = c, .attempt = FIELD_NONE };
	enum watch_end end;
	int status;

	w.quit = catch_signals(quits, ARRAY_SIZE(quits));
	w.other = catch_signals(others, ARRAY_SIZE(others));
	call_give_up_on(c->conn, w.quit);
	watch_data_init(&w.data, c->conn);
	terminal_size(&w.columns, &w.lines);
	/* print errors before taking the screen over */
	end = watch_look_at(&w, run);
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
	print_unsent(&w);
	status = print_end(&w, end);
	watch_close_page(&w);
	watch_notice(&w, PAINT_NONE, NULL);
	free(w.filter);
	free(w.question);
	buf_release(&w.typed);
	buf_release(&w.unsent);
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
