/* SPDX-License-Identifier: MIT */
/* Small parts that every section of a page is made of. */
#ifndef CLIENT_PAGE_PIECES_H
#define CLIENT_PAGE_PIECES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/page/html.h"

/* What a page shows at most; beyond it, it says so and names the command that shows the rest. */
enum {
	PIECE_TEXT_MAX = 8 * 1024,	/* bytes of one text of an agent */
	PIECE_DIFF_MAX = 128 * 1024,	/* bytes of the diff of one task */
	PIECE_HUNK_LINES = 16,		/* lines beside a finding */
	PIECE_FINDINGS_MAX = 100,	/* of one review */
	PIECE_ATTEMPTS_MAX = 1000,
	PIECE_TASKS_MAX = 1000,		/* rows of the table */
	PIECE_ROUNDS_MAX = 200,		/* tasks with all their rounds */
	PIECE_ROWS_MAX = 1000		/* of any other table */
};

/* "good", "bad", "warn", "live" or "dim": how a state, decision or result is coloured. */
const char *piece_tone(const char *state);
/* The word in a box of that colour. "": nothing. */
void piece_state(struct html *h, const char *state);

/* The same of a task; one that waits for a human is held. */
void piece_task_state(struct html *h, const json_t *task);

/* What an agent or a human wrote, at most PIECE_TEXT_MAX bytes of it, in its lines. more: the
 * command that shows all of it. */
void piece_prose(struct html *h, const char *text, const char *more);
/* The same behind a summary that opens it. */
void piece_folded(struct html *h, const char *summary, const char *text, const char *more);

/* "200 of 350 tasks; rlctl show 42 lists all of them." Nothing if all are shown. */
void piece_left_out(struct html *h, size_t shown, size_t all, const char *what, const char *more);

/* The first line of a text, at most so many columns of it. */
void piece_clip(struct html *h, const char *text, size_t columns);

/* A command on a line of its own, to be selected with one click. */
void piece_command(struct html *h, const char *command);

/* Rows of a list of facts between piece_facts() and html_close(). Takes value; "": no row. */
void piece_facts(struct html *h);
void piece_fact(struct html *h, const char *name, char *value);

/* A table that scrolls sideways by itself. To be closed by piece_table_end(). */
struct piece_column {
	const char *title;		/* NULL: the end */
	const char *class;
};
void piece_table(struct html *h, const char *caption, const struct piece_column *columns);
void piece_table_end(struct html *h);
/* A cell; takes text. */
void piece_cell(struct html *h, const char *class, char *text);
/* The cell that names its row; takes text. */
void piece_row_head(struct html *h, char *text);

/* As much of a hash as git shows, with all of it in its title. */
void piece_hash(struct html *h, const char *hash);

/* "3 reviews", "1 review" */
char *piece_count(long long count, const char *one);

/* "9 of 12 tasks passed, 1 failed, 2 wait for a decision" */
char *piece_tasks(const json_t *run);

/* What was asked: the title of the only task, or "12 tasks of invoices". */
void piece_title(struct html *h, const json_t *run, size_t columns);
/* The whole of it, malloc'd. */
char *piece_title_text(const json_t *run);

/* "42/3" */
char *piece_attempt(const json_t *attempt);

/* The heading of a section with a name that links lead to. To be closed by html_close(). */
void piece_section(struct html *h, const char *id, const char *title);

/* The moment d was made, ms since the epoch. */
int64_t piece_now(const json_t *d);

/* The time of a member, in the zone of this host. Nothing if it has none. */
void piece_time(struct html *h, const json_t *object, const char *key);

/* From the start of an attempt to its end, or to now. "" before its start. */
char *piece_took(const json_t *d, const json_t *attempt);

#endif
