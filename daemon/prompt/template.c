/* SPDX-License-Identifier: MIT */
#include "prompt/template.h"

#include <string.h>

const char *template_text(const char *name)
{
	for (const struct template *t = prompt_templates; t->name != NULL; t++) {
		if (strcmp(t->name, name) == 0)
			return t->text;
	}
	return NULL;
}
