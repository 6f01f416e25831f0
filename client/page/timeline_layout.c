/* SPDX-License-Identifier: MIT */
#include "client/page/timeline_layout.h"

#include <stdlib.h>

#include "client/field.h"
#include "client/page/pieces.h"
#include "proto/memory.h"

static struct timeline_block *layout_block_of(struct timeline *t, const json_t *attempt, int64_t from)
{
	int64_t slot = field_int(attempt, "slot"), iteration = field_int(attempt, "iteration");

	for (size_t i = t->count; i-- > 0;)
		if (t->blocks[i].slot == slot && t->blocks[i].iteration == iteration)
			return &t->blocks[i];
	t->blocks = xreallocarray(t->blocks, t->count + 1, sizeof(*t->blocks));
	t->blocks[t->count] = (struct timeline_block){ .slot = slot, .iteration = iteration, .span = { from, from },
		.task = field_text(attempt, "task") };
	return &t->blocks[t->count++];
}

/* The first line of a block that is free by then. */
static size_t layout_line(const struct timeline_block *block, int64_t from)
{
	for (size_t line = 0;; line++) {
		bool free_line = true;

		for (size_t i = 0; i < block->count && free_line; i++)
			free_line = block->bars[i].line != line || block->bars[i].span.to <= from;
		if (free_line)
			return line;
	}
}

static void layout_add(struct timeline *t, const json_t *attempt, struct timespan span)
{
	struct timeline_block *block = layout_block_of(t, attempt, span.from);
	size_t line = layout_line(block, span.from);

	block->bars = xreallocarray(block->bars, block->count + 1, sizeof(*block->bars));
	block->bars[block->count++] = (struct timeline_bar){ attempt, span, line };
	if (line >= block->lines)
		block->lines = line + 1;
	if (span.to > block->span.to)
		block->span.to = span.to;
}

/* The row for a block: the first one that is free when the block begins. */
static void layout_place(struct timeline *t, struct timeline_block *block)
{
	size_t row = 0;

	while (row < t->row_count && t->rows[row].until > block->span.from)
		row++;
	if (row == t->row_count) {
		t->rows = xreallocarray(t->rows, t->row_count + 1, sizeof(*t->rows));
		t->rows[t->row_count++] = (struct timeline_row){ 0 };
	}
	block->row = row;
	t->rows[row].until = block->span.to;
	if (block->lines > t->rows[row].lines)
		t->rows[row].lines = block->lines;
}

static int layout_by_start(const void *a, const void *b)
{
	const struct timespan *one = a, *other = b;

	return one->from < other->from ? -1 : one->from > other->from;
}

bool layout_read(struct timeline *t, const json_t *d)
{
	const json_t *attempts = field_array(d, "attempts");
	struct timespan *spans = xcalloc(json_array_size(attempts) + 1, sizeof(*spans));
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(attempts) && count < PIECE_ATTEMPTS_MAX; i++) {
		const json_t *attempt = json_array_get(attempts, i);
		int64_t from = field_time(attempt, "started_at"), to = field_time(attempt, "ended_at");

		if (from == FIELD_NONE)
			continue;
		if (to == FIELD_NONE)
			to = piece_now(d);
		if (to < from)
			to = from;
		spans[count++] = (struct timespan){ from, to };
		layout_add(t, attempt, spans[count - 1]);
	}
	qsort(spans, count, sizeof(*spans), layout_by_start);
	if (count > 0)
		timescale_make(&t->scale, spans, count);
	free(spans);
	for (size_t i = 0; i < t->count; i++)
		layout_place(t, &t->blocks[i]);
	for (size_t i = 0; i < t->row_count; i++) {
		t->rows[i].top = t->tall;
		t->tall += LABEL_TALL + t->rows[i].lines * (BAR_TALL + BAR_GAP) + ROW_GAP;
	}
	return count > 0;
}

void layout_release(struct timeline *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->blocks[i].bars);
	free(t->blocks);
	free(t->rows);
	timescale_release(&t->scale);
}
