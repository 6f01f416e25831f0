/* SPDX-License-Identifier: MIT */
/* Any text as rld.toml: refused with a message, or taken; what is taken resolves, and its plan survives a round trip. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/values.h"
#include "proto/escape.h"

static void visit(void *arg, const char *path, const char *value, const char *from, const char *help)
{
	(void)arg;
	if (path == NULL || value == NULL || from == NULL || help == NULL)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *config;
	struct config_error error;
	struct plan plan, again;
	char *first, *second;

	if (config_parse(&config, "fuzz.toml", (const char *)data, size, &error) == -1) {
		size_t n = strnlen(error.text, sizeof(error.text));

		if (n == 0 || n == sizeof(error.text) || !text_is_utf8(error.text, n) || strchr(error.text, '\n') != NULL)
			abort();
		return 0;
	}
	config_each(config, visit, NULL);
	strings_free(config_agent_env(config));
	if (config_resolve(config, NULL, 0, &plan, &error) == 0) {
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
	config_free(config);
	return 0;
}
