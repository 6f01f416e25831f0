/* SPDX-License-Identifier: MIT */
/* Any text as rld.toml and as .rld.toml: refused with a message, or taken; what is taken resolves,
 * and its plan survives a round trip. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/layers.h"
#include "core/plan_json.h"
#include "proto/escape.h"
#include "proto/memory.h"

static void visit(void *arg, const char *path, const char *value, const char *from, const char *help)
{
	(void)arg;
	if (path == NULL || value == NULL || from == NULL || help == NULL)
		abort();
}

static void check_message(const struct config_error *error)
{
	size_t n = strnlen(error->text, sizeof(error->text));

	if (n == 0 || n == sizeof(error->text) || !text_is_utf8(error->text, n) || strchr(error->text, '\n') != NULL)
		abort();
}

static void try(const struct config *config, const struct project *project)
{
	struct config_error error;
	struct plan plan, again;
	char *first, *second;

	if (config_each(config, project, NULL, 0, visit, NULL, &error) == -1)
		check_message(&error);
	if (config_resolve(config, project, NULL, 0, &plan, &error) == -1) {
		check_message(&error);
		return;
	}
	first = plan_to_json(&plan);
	if (plan_from_json(first, &again) != 0)
		abort();
	second = plan_to_json(&again);
	if (strcmp(first, second) != 0)
		abort();
	free(first);
	free(second);
	plan_release(&plan);
	plan_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *config, *none;
	struct project *project;
	struct project_text text = { .workdir = xstrdup("/nonexistent"), .text = xmemdup0(data, size), .size = size };
	struct config_error error;

	if (config_load(&none, NULL, false, &error) == -1)
		abort();
	if (config_parse(&config, "fuzz.toml", text.text, size, &error) == 0) {
		try(config, NULL);
		(void)config_agent_env(config);
		config_free(config);
	} else {
		check_message(&error);
	}
	if (project_parse(&project, &text, &error) == 0)
		try(none, project);
	else
		check_message(&error);
	project_free(project);
	project_text_release(&text);
	config_free(none);
	return 0;
}
