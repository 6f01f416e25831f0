/* SPDX-License-Identifier: MIT */
/* Time, tokens and cost by role and agent. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/page/pieces.h"
#include "client/page/sections.h"
#include "client/print.h"
#include "proto/memory.h"

static const char *const cost_kinds[] = { "input", "cached", "cache_write", "output", "reasoning" };
#define COST_KINDS ARRAY_SIZE(cost_kinds)

struct cost_line {
	const char *role, *agent, *account;
	size_t attempts, unpriced;
	int64_t ms, tokens[COST_KINDS];
	double usd;
};

struct cost_lines {
	struct cost_line *all;
	size_t count;
};

static struct cost_line *cost_line_of(struct cost_lines *lines, const json_t *attempt)
{
	const char *role = field_text(attempt, "role"), *account = field_text(attempt, "account");
	bool command = strcmp(role, "check") == 0 || strcmp(role, "setup") == 0;
	const char *agent = command ? "" : field_text(attempt, "agent");

	for (size_t i = 0; i < lines->count; i++)
		if (strcmp(lines->all[i].role, role) == 0 && strcmp(lines->all[i].agent, agent) == 0 &&
		    strcmp(lines->all[i].account, account) == 0)
			return &lines->all[i];
	lines->all = xreallocarray(lines->all, lines->count + 1, sizeof(*lines->all));
	lines->all[lines->count] = (struct cost_line){ .role = role, .agent = agent, .account = account };
	return &lines->all[lines->count++];
}

static void cost_add(struct cost_line *line, const json_t *d, const json_t *attempt)
{
	const json_t *tokens = json_object_get(attempt, "tokens");
	int64_t from = field_time(attempt, "started_at"), to = field_time(attempt, "ended_at");
	double usd = field_real(attempt, "cost_usd");

	line->attempts++;
	line->unpriced += isnan(usd) && *line->account != '\0';
	line->usd += isnan(usd) ? 0 : usd;
	if (from != FIELD_NONE)
		line->ms += (to == FIELD_NONE ? piece_now(d) : to) - from;
	for (size_t i = 0; i < COST_KINDS; i++)
		line->tokens[i] += field_count(tokens, cost_kinds[i]);
}

static char *cost_tokens(int64_t count)
{
	return count == 0 ? xstrdup("") : print_count(count);
}

/* sum: kinds of tokens that no line has are left out. */
static void cost_row(struct html *h, const struct cost_line *line, const struct cost_line *sum)
{
	html_open(h, "tr");
	piece_row_head(h, xstrdup(line->role));
	piece_cell(h, NULL, xstrdup(line->agent));
	piece_cell(h, NULL, xstrdup(line->account));
	piece_cell(h, "num", xasprintf("%zu", line->attempts));
	piece_cell(h, "num", print_duration(line->ms));
	for (size_t i = 0; i < COST_KINDS; i++)
		if (sum->tokens[i] > 0)
			piece_cell(h, "num", cost_tokens(line->tokens[i]));
	piece_cell(h, "num", line->usd > 0 ? print_cost(line->usd) : xstrdup(""));
	html_close(h);
}

static struct cost_line cost_sum(const struct cost_lines *lines)
{
	struct cost_line sum = { .role = "all", .agent = "", .account = "" };

	for (size_t n = 0; n < lines->count; n++) {
		const struct cost_line *line = &lines->all[n];

		sum.attempts += line->attempts;
		sum.unpriced += line->unpriced;
		sum.ms += line->ms;
		sum.usd += line->usd;
		for (size_t i = 0; i < COST_KINDS; i++)
			sum.tokens[i] += line->tokens[i];
	}
	return sum;
}

static void cost_table(struct html *h, const struct cost_lines *lines, const struct cost_line *sum)
{
	static const char *const titles[] = { "Input", "Cached", "Cache write", "Output", "Reasoning" };
	struct piece_column columns[6 + COST_KINDS + 1] = { { "Role", NULL }, { "Agent", NULL }, { "Account", NULL },
		{ "Attempts", "num" }, { "Time", "num" } };
	size_t count = 5;

	for (size_t i = 0; i < COST_KINDS; i++)
		if (sum->tokens[i] > 0)
			columns[count++] = (struct piece_column){ titles[i], "num" };
	columns[count++] = (struct piece_column){ "Cost", "num" };
	piece_table(h, "By role and agent", columns);
	for (size_t i = 0; i < lines->count; i++)
		cost_row(h, &lines->all[i], sum);
	cost_row(h, sum, sum);
	piece_table_end(h);
}

void section_cost(struct html *h, const json_t *d)
{
	const json_t *attempts = field_array(d, "attempts");
	struct cost_lines lines = { 0 };
	struct cost_line sum;
	char *unpriced;

	for (size_t i = 0; i < json_array_size(attempts); i++) {
		const json_t *attempt = json_array_get(attempts, i);

		cost_add(cost_line_of(&lines, attempt), d, attempt);
	}
	sum = cost_sum(&lines);
	if (lines.count > 0) {
		unpriced = piece_count((long long)sum.unpriced, "attempt");
		piece_section(h, "cost", "Time, tokens and cost");
		cost_table(h, &lines, &sum);
		if (sum.unpriced > 0)
			html_leaff(h, "p", "note", "%s reported no cost.", unpriced);
		html_close(h);
		free(unpriced);
	}
	free(lines.all);
}
