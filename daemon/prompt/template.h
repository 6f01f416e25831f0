/* SPDX-License-Identifier: MIT */
/* The files of prompt/templates, embedded at build by embed.awk. */
#ifndef PROMPT_TEMPLATE_H
#define PROMPT_TEMPLATE_H

struct template {
	const char *name;	/* "reviewer.md" */
	const char *text;
};

extern const struct template prompt_templates[];	/* ends with name NULL */

/* NULL: no such template. */
const char *template_text(const char *name);

#endif
