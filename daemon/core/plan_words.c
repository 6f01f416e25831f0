/* SPDX-License-Identifier: MIT */
#include "core/plan_words.h"

#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

char **plan_words(const json_t *json)
{
	char **words = xcalloc(1, sizeof(*words));
	const char *name;
	json_t *item;
	size_t i;

	json_array_foreach(json, i, item) {
		if (json_is_object(item)) {
			strings_append(&words, json_string_value(json_object_get(item, "file")));
			strings_append(&words, json_string_value(json_object_get(item, "section")));
		} else {
			strings_append(&words, json_string_value(item));
		}
	}
	json_object_foreach((json_t *)json, name, item) {
		char *word = xasprintf("%s=%s", name, json_string_value(item));

		strings_append(&words, word);
		free(word);
	}
	return words;
}

bool plan_words_are(char *const *words, const char *json)
{
	json_t *array = json_loads(json, 0, NULL);
	char **known = plan_words(array);
	size_t count = strings_count(known), i = 0;
	bool same = strings_count(words) == count;

	while (same && i < count && strcmp(words[i], known[i]) == 0)
		i++;
	strings_free(known);
	json_decref(array);
	return same && i == count;
}
