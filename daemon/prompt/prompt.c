/* SPDX-License-Identifier: MIT */
#include "prompt/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "prompt/placeholder.h"
#include "prompt/template.h"
#include "proto/memory.h"

enum { NAME_MAX_SIZE = 32 };	/* of a placeholder, including its closing braces */

static const char *const file_names[ROLES] = {
	[ROLE_IMPLEMENT] = "developer.md",
	[ROLE_REVIEW] = "reviewer.md",
	[ROLE_FIX] = "fixer.md",
	[ROLE_COMMIT] = "commit.md",
};

/* The form of a reviewer's answer. The program of CARRIER_EXIT gets no prompt. */
static const struct {
	const char *template;
	const char *nonce;	/* what the answer does with the nonce; NULL: nothing */
	bool verdict_file;	/* the answer may also be written to a file */
} contracts[CARRIERS] = {
	[CARRIER_VERDICT] = { "contract-verdict.md", "nonce-object.md", true },
	[CARRIER_DECISION] = { "contract-decision.md", "nonce-object.md", true },
	[CARRIER_FILE] = { "contract-file.md", "nonce-line.md", false },
	[CARRIER_EXIT] = { NULL, NULL, false },
	[CARRIER_COMMENTS] = { "contract-comments.md", NULL, false },
};

static struct span span_of(const char *text)
{
	return (struct span){ text, text != NULL ? strlen(text) : 0 };
}

/* A part that the role must not see is never written, whatever the template says. */
static void write_placeholder(struct buf *out, const struct placeholder *placeholder, const struct setting *s)
{
	if (placeholder->part == 0 || (s->sees & placeholder->part) != 0)
		placeholder->write(out, s);
}

static void write_contract(struct buf *out, const struct setting *s);
static void write_context(struct buf *out, const struct setting *s);

static const struct placeholder wholes[] = {
	{ "contract", 0, write_contract },
	{ "context", 0, write_context },
	{ NULL, 0, NULL }
};

static void add_section(struct buf *out, const struct placeholder *placeholder, const struct setting *s)
{
	struct buf section = { 0 };

	write_placeholder(&section, placeholder, s);
	if (section.size > 0) {
		buf_adds(out, out->size > 0 ? "\n" : "");
		buf_add(out, section.data, section.size);
	}
	buf_release(&section);
}

static void write_sections(struct buf *out, const struct setting *s)
{
	for (const struct placeholder *placeholder = placeholder_sections; placeholder->name != NULL; placeholder++)
		add_section(out, placeholder, s);
}

static void write_context(struct buf *out, const struct setting *s)
{
	struct buf context = { 0 };

	write_sections(&context, s);
	add_section(&context, &wholes[0], s);
	buf_add(out, context.data, context.size);
	buf_release(&context);
}

/* The placeholder at the start of text, NULL: none. */
static const struct placeholder *placeholder_at(struct span text, size_t *size)
{
	static const struct placeholder *const tables[] = { wholes, placeholder_sections, placeholder_values };
	const char *end;

	if (text.size < 4 || memcmp(text.data, "{{", 2) != 0)
		return NULL;
	end = memmem(text.data + 2, text.size - 2 < NAME_MAX_SIZE ? text.size - 2 : NAME_MAX_SIZE, "}}", 2);
	if (end == NULL)
		return NULL;
	*size = (size_t)(end - text.data) + 2;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct placeholder *placeholder = tables[i]; placeholder->name != NULL; placeholder++) {
			if (strlen(placeholder->name) == *size - 4 &&
			    memcmp(placeholder->name, text.data + 2, *size - 4) == 0)
				return placeholder;
		}
	}
	return NULL;
}

/* What a template has a place for. */
struct placed {
	bool any, contract, disputed, question;
};

static void note_placed(struct placed *placed, const struct placeholder *placeholder)
{
	bool all = placeholder->write == write_context;

	placed->any = true;
	placed->contract |= all || placeholder->write == write_contract;
	placed->disputed |= all || placeholder->write == disputed_write;
	placed->question |= all || placeholder->write == asking_write;
}

/* Fill in a template. Inserted text is never expanded again. */
static void expand(struct buf *out, struct span template, const struct setting *s, struct placed *placed)
{
	const struct placeholder *placeholder;
	size_t n;

	while (template.size > 0) {
		placeholder = placeholder_at(template, &n);
		if (placeholder != NULL) {
			write_placeholder(out, placeholder, s);
			note_placed(placed, placeholder);
		} else {
			const char *next = memmem(template.data + 1, template.size - 1, "{{", 2);

			n = next != NULL ? (size_t)(next - template.data) : template.size;
			buf_add(out, template.data, n);
		}
		template.data += n;
		template.size -= n;
	}
}

static void write_contract(struct buf *out, const struct setting *s)
{
	const char *name = s->profile != NULL ? contracts[s->profile->carrier].template : NULL;
	struct placed ignored = { 0 };

	if (s->role != ROLE_REVIEW || name == NULL)
		return;
	expand(out, span_of(template_text(name)), s, &ignored);
	name = contracts[s->profile->carrier].nonce;
	if (name != NULL && s->parts->nonce != NULL)
		expand(out, span_of(template_text(name)), s, &ignored);
	if (contracts[s->profile->carrier].verdict_file && s->parts->verdict_file != NULL)
		expand(out, span_of(template_text("verdict-file.md")), s, &ignored);
	if (s->parts->read_only)
		buf_adds(out, template_text("read-only.md"));
}

static void add_blank_line(struct buf *out)
{
	while (out->size > 0 && out->data[out->size - 1] == '\n')
		out->size--;
	buf_adds(out, out->size > 0 ? "\n\n" : "");
}

unsigned prompt_sees(const struct profile *profile, enum role role)
{
	const unsigned masks[ROLES] = {
		[ROLE_IMPLEMENT] = PART_PROJECT | PART_TASK,
		[ROLE_REVIEW] = profile != NULL ? profile->review_sees : 0,
		[ROLE_FIX] = profile != NULL ? profile->fix_sees : 0,
		[ROLE_COMMIT] = profile != NULL && profile->no_task ? 0 : PART_TASK,
	};

	return masks[role];
}

/* Reviews are shown as the profile says; feedback of a check or a human, to every role that can fix
 * it. */
static unsigned seen_by(const struct profile *profile, enum role role, const struct prompt_parts *parts)
{
	return prompt_sees(profile,
	    role) | (role != ROLE_REVIEW && !feedback_is_of_review(parts) ? PART_FOLLOW_UP : 0) |
	    (role == ROLE_REVIEW && parts->strictness == STRICTNESS_BY_ROUND ? PART_ROUND : 0);
}

/* A reviewer's answer needs the contract, so it is added even if the template omits it; so is what
 * disputes and questions need. */
static void fill_in(struct buf *out, const struct setting *s)
{
	const struct span own = s->parts->template;
	struct placed placed = { 0 };

	expand(out, own.data != NULL ? own : prompt_builtin(s->profile, s->role), s, &placed);
	if (!placed.any) {
		add_blank_line(out);
		write_context(out, s);
		return;
	}
	if (!placed.disputed && s->parts->disputed.data != NULL) {
		add_blank_line(out);
		disputed_write(out, s);
	}
	if (!placed.question && s->role != ROLE_REVIEW && (s->parts->may_ask || s->parts->question != NULL)) {
		add_blank_line(out);
		asking_write(out, s);
	}
	if (s->role == ROLE_REVIEW && !placed.contract) {
		add_blank_line(out);
		write_contract(out, s);
	}
}

char *prompt_build(const struct profile *profile, enum role role, const struct prompt_parts *parts, size_t *size)
{
	const struct setting s = { profile, role, seen_by(profile, role, parts), parts };
	struct buf out = { 0 };
	char *prompt;

	if (parts->asked != NULL && role == ROLE_REVIEW) {
		question_write(&out, &s);
		add_section(&out, &wholes[0], &s);
	} else if (parts->goes_on && parts->reply != NULL) {
		reply_write(&out, &s);
	} else if (parts->resumed && role == ROLE_FIX && parts->follow_up.data != NULL) {
		feedback_write(&out, &s);
	} else {
		fill_in(&out, &s);
	}
	prompt = prompt_cap((struct span){ out.data, out.size }, SIZE_MAX, size);
	buf_release(&out);
	return prompt;
}

char *prompt_given(const struct profile *profile, const struct prompt_parts *parts, size_t *size)
{
	const struct setting s = { profile, ROLE_REVIEW, seen_by(profile, ROLE_REVIEW, parts), parts };
	struct buf out = { 0 };
	char *given;

	write_sections(&out, &s);
	given = prompt_cap((struct span){ out.data, out.size }, SIZE_MAX, size);
	buf_release(&out);
	return given;
}

struct span prompt_builtin(const struct profile *profile, enum role role)
{
	const char *text;
	char *name;

	if (file_names[role] == NULL)
		return (struct span){ NULL, 0 };
	name = xasprintf("%s-%s", profile != NULL ? profile->name : "", file_names[role]);
	text = template_text(name);
	free(name);
	return span_of(text != NULL ? text : template_text(file_names[role]));
}

const char *prompt_file_name(enum role role)
{
	return file_names[role];
}
