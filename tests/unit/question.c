/* SPDX-License-Identifier: MIT */
/* What in a final text is a question to a human. */
#include <string.h>

#include "core.h"
#include "core/question.h"
#include "proto/memory.h"

static const struct {
	const char *text, *question;	/* NULL: it is none */
} texts[] = {
	{ "QUESTION: which one?", "which one?" },
	{ "I have begun.\n\nQUESTION: which one?\n", "which one?" },
	{ "I have begun.\r\n\r\nQUESTION: which one?\r\n\r\n", "which one?" },
	{ "I have begun.\n  \t\n  QUESTION:which one?\n\n\n", "which one?" },
	{ "a\n\nQUESTION:\nA or B?\nI would take A.\n", "A or B?\nI would take A." },
	{ "a\n\nQUESTION: one?\n\nQUESTION: two?", "two?" },
	{ "\xef\xbb\xbfQUESTION: which one?", NULL },
	{ "a\n\n> q\n\nQUESTION: `x`?", "`x`?" },
	/* not the last paragraph, or not its beginning */
	{ "QUESTION: which one?\n\nI have taken the first.", NULL },
	{ "I have begun.\nQUESTION: which one?", NULL },
	{ "The QUESTION: which one?", NULL },
	{ "question: which one?", NULL },
	{ "**QUESTION:** which one?", NULL },
	/* nothing is asked */
	{ "QUESTION:", NULL },
	{ "a\n\nQUESTION: \n\n", NULL },
	{ "", NULL },
	{ " \n", NULL },
	/* not its own words */
	{ "> QUESTION: which one?", NULL },
	{ "```\n\nQUESTION: which one?\n```", NULL },
	{ "```\n\nQUESTION: which one?", NULL },
};

START_TEST(questions)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *question = question_of(texts[i].text, strlen(texts[i].text));

		ck_assert_msg(text_equal(question, texts[i].question), "\"%s\": \"%s\"", texts[i].text,
		    question != NULL ? question : "NULL");
		free(question);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { questions };

	return RUN_SUITE("question", tests);
}
