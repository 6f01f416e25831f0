/* SPDX-License-Identifier: MIT */
#include "client/hold_choice.h"

#include <stdlib.h>
#include <string.h>

#include "client/command_options.h"
#include "client/field.h"
#include "proto/memory.h"

/* What was never done can only be done again. */
#define UNDONE "lost|setup"
/* What is done again without a word about it: nothing of it is for a fixer. */
#define SILENT UNDONE "|reviewer-changed|reviewer-error|violation|question"

#define RLCTL "rlctl hold "

const struct choice choices[] = {
	{ "answer", "Answer", "the agent continues with your answer", "question", NULL, "" },
	{ "approve", "Approve", "accepts the work as it is", NULL, UNDONE, NULL },
	{ "rework", "Rework", "has it done again, with your text as instructions", NULL, "", SILENT },
	{ "reject", "Reject", "fails the task", NULL, "", NULL },
	{ .word = NULL },
};

const struct choice *choice_find(const char *word)
{
	for (const struct choice *choice = choices; choice->word != NULL; choice++)
		if (strcmp(choice->word, word) == 0)
			return choice;
	return NULL;
}

bool choice_applies(const struct choice *choice, const json_t *hold)
{
	const char *kind = field_text(hold, "kind");

	return choice->kinds != NULL ? options_is_choice(choice->kinds, kind) : !options_is_choice(choice->but, kind);
}

bool choice_needs_text(const struct choice *choice, const json_t *hold)
{
	return choice->silent != NULL && !options_is_choice(choice->silent, field_text(hold, "kind"));
}

char *choice_command(const struct choice *choice, const json_t *hold)
{
	const char *text = choice_needs_text(choice, hold) ? " -m TEXT" : "";

	if (choice->kinds != NULL)
		return xasprintf(RLCTL "%s %lld/%s%s", choice->word, field_count(hold, "run"),
		    field_text(hold, "task"), text);
	return xasprintf(RLCTL "%s %lld%s", choice->word, field_count(hold, "id"), text);
}

char *choice_commands(const json_t *hold)
{
	struct buf text = { 0 };

	for (const struct choice *choice = choices; choice->word != NULL; choice++) {
		char *command = choice_command(choice, hold);

		if (choice_applies(choice, hold))
			buf_addf(&text, "%s%s", text.size == 0 ? "" : choice[1].word == NULL ? ", or " : ", ",
			    command + (text.size == 0 ? 0 : strlen(RLCTL)));
		free(command);
	}
	return buf_take(&text, NULL);
}
