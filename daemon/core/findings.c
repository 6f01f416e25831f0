/* SPDX-License-Identifier: MIT */
#include "core/findings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/digest.h"
#include "core/likeness.h"
#include "proto/memory.h"

/* The rule of older versions: white space becomes one space; "line 12" and ":12" lose their
 * digits. */
static void normalise_first(struct buf *out, const char *text)
{
	bool space = false, after_line = false;
	size_t start = out->size;

	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if (isspace(c)) {
			space = true;
			continue;
		}
		after_line = out->size > start && (out->data[out->size - 1] == ':' ||
		    (out->size - start >= 4 && strncasecmp(out->data + out->size - 4, "line", 4) == 0));
		if (isdigit(c) && after_line) {
			while (isdigit((unsigned char)p[1]))
				p++;
			space = false;
			continue;
		}
		if (space && out->size > start)
			buf_add(out, " ", 1);
		space = false;
		buf_add(out, p, 1);
	}
}

static void make_id(struct buf *b, char id[FINDING_ID])
{
	char hex[DIGEST_HEX];

	digest_hex(b->data, b->size, hex);
	memcpy(id, hex, FINDING_ID - 1);
	id[FINDING_ID - 1] = '\0';
	buf_release(b);
}

void finding_id(const char *file, const char *text, char id[FINDING_ID])
{
	struct buf b = { 0 };

	if (file != NULL)
		likeness_add(&b, file, strlen(file));
	buf_add(&b, "", 1);
	likeness_add(&b, text, strlen(text));
	make_id(&b, id);
}

void finding_id_first(const char *file, const char *text, char id[FINDING_ID])
{
	struct buf b = { 0 };

	buf_adds(&b, file != NULL ? file : "");
	buf_add(&b, "", 1);
	normalise_first(&b, text);
	make_id(&b, id);
}

bool finding_is_open(const struct finding_row *finding)
{
	return finding->state != FINDING_RESOLVED && finding->state != FINDING_DISMISSED &&
	    finding->state != FINDING_OUTVOTED &&
	    (finding->severity == NULL || strcmp(finding->severity, "suggestion") != 0);
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void findings_set(const struct finding_row *const *rows, size_t count, const char *feedback, char set[FINDING_ID])
{
	const char **ids = xcalloc(count + 1, sizeof(*ids));
	struct buf b = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (finding_is_open(rows[i]))
			ids[n++] = rows[i]->id;
	qsort(ids, n, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(ids[i], ids[i - 1]) != 0)
			buf_addf(&b, "%s\n", ids[i]);
	if (n == 0 && feedback != NULL)
		likeness_add(&b, feedback, strlen(feedback));
	free(ids);
	make_id(&b, set);
}

bool findings_have(const struct finding_row *const *rows, size_t count, const char *id)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i]->id, id) == 0)
			return true;
	return false;
}

struct finding_counts findings_compare(struct finding_row *const *now, size_t nnow,
    const struct finding_row *const *before, size_t nbefore)
{
	struct finding_counts counts = { 0 };

	for (size_t i = 0; i < nnow; i++) {
		now[i]->state = findings_have(before, nbefore, now[i]->id) ? FINDING_REPEATED : FINDING_NEW;
		if (now[i]->state == FINDING_REPEATED)
			counts.repeated++;
		else
			counts.new++;
	}
	for (size_t i = 0; i < nbefore; i++)
		if (!findings_have((const struct finding_row *const *)now, nnow, before[i]->id))
			counts.resolved++;
	return counts;
}
