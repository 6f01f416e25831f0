/* SPDX-License-Identifier: MIT */
#include "core/findings.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/digest.h"
#include "proto/memory.h"

/* White space becomes one space; "line 12" and ":12" lose their digits. */
static void normalise(struct buf *out, const char *text)
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

void finding_id(const char *file, const char *text, char id[FINDING_ID])
{
	struct buf b = { 0 };
	char hex[DIGEST_HEX];

	buf_adds(&b, file != NULL ? file : "");
	buf_add(&b, "", 1);
	normalise(&b, text);
	digest_hex(b.data, b.size, hex);
	memcpy(id, hex, FINDING_ID - 1);
	id[FINDING_ID - 1] = '\0';
	buf_release(&b);
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
