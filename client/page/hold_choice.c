/* SPDX-License-Identifier: MIT */
#include "client/page/hold_choice.h"

#include "client/command_options.h"
#include "client/field.h"
#include "proto/memory.h"

/* What was never done can only be done again. */
#define UNDONE "lost|setup"

const struct choice choices[] = {
	{ "answer", "Answer", "question", NULL, "" },
	{ "approve", "Approve", NULL, UNDONE, NULL },
	{ "rework", "Rework", NULL, "", UNDONE },
	{ "reject", "Reject", NULL, "", NULL },
	{ .word = NULL },
};

bool choice_applies(const struct choice *choice, const json_t *hold)
{
	const char *kind = field_text(hold, "kind");

	return choice->kinds != NULL ? options_is_choice(choice->kinds, kind) : !options_is_choice(choice->but, kind);
}

char *choice_command(const struct choice *choice, const json_t *hold)
{
	const char *text = choice->silent != NULL && !options_is_choice(choice->silent, field_text(hold, "kind")) ?
	    " -m TEXT" : "";

	if (choice->kinds != NULL)
		return xasprintf("rlctl hold %s %lld/%s%s", choice->word, field_count(hold, "run"),
		    field_text(hold, "task"), text);
	return xasprintf("rlctl hold %s %lld%s", choice->word, field_count(hold, "id"), text);
}
