/* SPDX-License-Identifier: MIT */
#include "client/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "client/field.h"
#include "client/message.h"
#include "proto/clock.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/units.h"

#define USUAL_COLUMNS 80
#define TAB 8

static const char *const sequences[] = {
	[PAINT_NONE] = "",
	[PAINT_BOLD] = "\033[1m",
	[PAINT_DIM] = "\033[2m",
	[PAINT_RED] = "\033[31m",
	[PAINT_GREEN] = "\033[32m",
	[PAINT_YELLOW] = "\033[33m",
	[PAINT_CYAN] = "\033[36m",
};

static const struct {
	const char *state;
	enum paint paint;
} state_paints[] = {
	{ "succeeded", PAINT_GREEN }, { "passed", PAINT_GREEN }, { "pass", PAINT_GREEN }, { "GO", PAINT_GREEN },
	{ "accept", PAINT_GREEN }, { "accepted", PAINT_GREEN }, { "approved", PAINT_GREEN },
	{ "reworked", PAINT_GREEN },
	{ "running", PAINT_CYAN }, { "starting", PAINT_CYAN },
	{ "held", PAINT_YELLOW }, { "paused", PAINT_YELLOW }, { "drift", PAINT_YELLOW }, { "NO_GO", PAINT_YELLOW },
	{ "issues", PAINT_YELLOW }, { "retry", PAINT_YELLOW }, { "must-fix", PAINT_YELLOW },
	{ "open", PAINT_YELLOW }, { "rework", PAINT_YELLOW },
	{ "failed", PAINT_RED }, { "lost", PAINT_RED }, { "violation", PAINT_RED },
	{ "error", PAINT_RED }, { "rejected", PAINT_RED },
	{ "cancelled", PAINT_DIM }, { "queued", PAINT_DIM },
};

size_t print_columns(FILE *file)
{
	struct winsize size;

	return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
}

void print_init(struct print *p, FILE *file, const char *when)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	p->file = file;
	p->terminal = isatty(fileno(file)) == 1;
	p->color = p->terminal && (no_color == NULL || *no_color == '\0') && term != NULL && strcmp(term, "dumb") != 0;
	if (strcmp(when, "auto") != 0)
		p->color = strcmp(when, "always") == 0;
	p->width = p->terminal ? print_columns(file) : 0;
}

const char *print_sequence(enum paint paint)
{
	return sequences[paint];
}

void print_painted_bytes(const struct print *p, enum paint paint, const char *data, size_t size)
{
	char *safe = text_escape(data, size, false);

	if (p->color && paint != PAINT_NONE && *safe != '\0')
		fprintf(p->file, "%s%s\033[0m", sequences[paint], safe);
	else
		fputs(safe, p->file);
	free(safe);
}

void print_painted(const struct print *p, enum paint paint, const char *text)
{
	print_painted_bytes(p, paint, text, strlen(text));
}

void print_paintedf(const struct print *p, enum paint paint, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	print_painted(p, paint, text);
	free(text);
}

char *print_clip(const char *text, size_t columns)
{
	char *safe = text_escape(text, strlen(text), false);
	size_t kept;

	if (columns == 0 || safe[text_fit(safe, columns)] == '\0')
		return safe;
	/* leave room for the ellipsis: one column, three bytes */
	kept = text_fit(safe, columns - 1);
	safe = xreallocarray(safe, kept + sizeof("…"), 1);
	memcpy(safe + kept, "…", sizeof("…"));
	return safe;
}

char *print_untabbed(const char *text, size_t size, size_t *untabbed)
{
	struct buf wide = { 0 };
	size_t column = 0;

	for (size_t i = 0; i < size; i++) {
		size_t blanks = text[i] == '\t' ? TAB - column % TAB : 0;

		if (blanks > 0)
			buf_add(&wide, "        ", blanks);
		else
			buf_add(&wide, text + i, 1);
		/* of a character only its first byte */
		column += blanks > 0 ? blanks : ((unsigned char)text[i] & 0xc0) != 0x80;
	}
	return buf_take(&wide, untabbed);
}

void print_agent_text(const struct print *p, const char *data, size_t size)
{
	char *safe;

	if (!p->terminal) {
		fwrite(data, 1, size, p->file);
		return;
	}
	safe = text_escape(data, size, true);
	fputs(safe, p->file);
	free(safe);
}

static void print_dump(const struct print *p, const json_t *value, size_t flags)
{
	json_dumpf(value, p->file, flags | JSON_ENCODE_ANY | (p->terminal ? JSON_ENSURE_ASCII : 0));
	fputc('\n', p->file);
}

void print_json(const struct print *p, const json_t *value)
{
	print_dump(p, value, JSON_COMPACT);
}

void print_json_indented(const struct print *p, const json_t *value)
{
	print_dump(p, value, JSON_INDENT(2));
}

enum paint print_state_paint(const char *state)
{
	for (size_t i = 0; i < ARRAY_SIZE(state_paints); i++)
		if (strcmp(state_paints[i].state, state) == 0)
			return state_paints[i].paint;
	return PAINT_NONE;
}

char *print_duration(int64_t ms)
{
	char text[32] = "";

	if (ms != FIELD_NONE)
		duration_format(ms, text, sizeof(text));
	return xstrdup(text);
}

char *print_age(int64_t time)
{
	int64_t age;

	if (time == FIELD_NONE)
		return xstrdup("");
	age = clock_wall() - time;
	return age < 1000 ? xstrdup("0s") : print_duration(age);
}

char *print_clock(int64_t time)
{
	char text[64] = "";
	time_t seconds = (time_t)(time / 1000);
	struct tm tm;

	if (time != FIELD_NONE && localtime_r(&seconds, &tm) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	return xstrdup(text);
}

char *print_cost(double usd)
{
	return isnan(usd) || usd == 0 ? xstrdup("") : xasprintf("$%.*f", usd < 0.1 ? 4 : 2, usd);
}

char *print_count(int64_t n)
{
	if (n == FIELD_NONE)
		return xstrdup("");
	if (n < 1000)
		return xasprintf("%lld", (long long)n);
	if (n < 1000000)
		return xasprintf("%.1fk", (double)n / 1000);
	return xasprintf("%.1fM", (double)n / 1000000);
}
