/* SPDX-License-Identifier: MIT */
#include "config/setting.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "base/secret_patterns.h"
#include "proto/memory.h"
#include "proto/units.h"

#define SECOND INT64_C(1000)

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return "a table";
	case JSON_ARRAY: return "an array";
	case JSON_STRING: return "a string";
	case JSON_INTEGER: return "an integer";
	case JSON_REAL: return "a fraction";
	case JSON_TRUE:
	case JSON_FALSE: return "a boolean";
	case JSON_NULL: return "null";
	}
	abort();
}

static char *not_a(const char *wanted, const json_t *value)
{
	return xasprintf("must be %s, is %s", wanted, type_name(value));
}

static bool has_nul(const json_t *value)
{
	return strlen(json_string_value(value)) != json_string_length(value);
}

static bool has_control(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	}
	return false;
}

/* "must be one of a, b, c" */
static char *choices_text(const struct state_names *choices)
{
	struct buf b = { 0 };

	buf_adds(&b, "must be one of ");
	for (size_t i = 0; i < choices->count; i++)
		buf_addf(&b, "%s\"%s\"", i == 0 ? "" : ", ", choices->names[i]);
	return buf_take(&b, NULL);
}

static char *refuse_bool(const struct setting *setting, const json_t *value)
{
	(void)setting;
	return json_is_boolean(value) ? NULL : not_a("true or false", value);
}

static char *refuse_int(const struct setting *setting, const json_t *value)
{
	if (!json_is_integer(value))
		return not_a("an integer", value);
	if (json_integer_value(value) < setting->min || json_integer_value(value) > setting->max)
		return xasprintf("must be from %" PRId64 " to %" PRId64 ", is %" JSON_INTEGER_FORMAT, setting->min, setting->max,
		    json_integer_value(value));
	return NULL;
}

static char *refuse_money(const struct setting *setting, const json_t *value)
{
	if (!json_is_number(value))
		return not_a("an amount like 5 or 2.50", value);
	if (!isfinite(json_number_value(value)) || json_number_value(value) < (double)setting->min / 100 || json_number_value(value) > (double)setting->max)
		return xasprintf("must be an amount from %g to %" PRId64, (double)setting->min / 100, setting->max);
	return NULL;
}

/* Both take an integer in a base unit or a string with a unit. 0 or -1. */
static int duration_value(const json_t *value, int64_t *ms)
{
	if (json_is_string(value))
		return has_nul(value) ? -1 : duration_parse(json_string_value(value), ms);
	if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > INT64_MAX / SECOND)
		return -1;
	*ms = json_integer_value(value) * SECOND;
	return 0;
}

static int size_value(const json_t *value, int64_t *bytes)
{
	if (json_is_string(value))
		return has_nul(value) ? -1 : size_parse(json_string_value(value), bytes);
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return -1;
	*bytes = json_integer_value(value);
	return 0;
}

static char *refuse_duration(const struct setting *setting, const json_t *value)
{
	char min[32], max[32];
	int64_t ms;

	if (!json_is_string(value) && !json_is_integer(value))
		return not_a("a duration like 90, \"90s\", \"15m\" or \"2h\"", value);
	if (duration_value(value, &ms) == -1)
		return xstrdup("must be a duration like 90, \"90s\", \"15m\" or \"2h\"");
	if (ms >= setting->min && ms <= setting->max)
		return NULL;
	duration_format(setting->min, min, sizeof(min));
	duration_format(setting->max, max, sizeof(max));
	return xasprintf("must be a duration from %s to %s", min, max);
}

static char *refuse_size(const struct setting *setting, const json_t *value)
{
	char min[32], max[32];
	int64_t bytes;

	if (!json_is_string(value) && !json_is_integer(value))
		return not_a("a size like 4096, \"64K\", \"64M\" or \"1G\"", value);
	if (size_value(value, &bytes) == -1)
		return xstrdup("must be a size like 4096, \"64K\", \"64M\" or \"1G\"");
	if (bytes >= setting->min && bytes <= setting->max)
		return NULL;
	size_format(setting->min, min, sizeof(min));
	size_format(setting->max, max, sizeof(max));
	return xasprintf("must be a size from %s to %s", min, max);
}

static char *refuse_text(const struct setting *setting, const json_t *value)
{
	if (!json_is_string(value))
		return not_a("a string", value);
	if (has_nul(value))
		return xstrdup("must not contain a NUL character");
	if (json_string_length(value) > (size_t)setting->max)
		return xasprintf("must not be longer than %" PRId64 " bytes", setting->max);
	return NULL;
}

/* What begins with "-" would be an option. */
static char *refuse_revision(const struct setting *setting, const json_t *value)
{
	const char *name = json_string_value(value);
	char *why = refuse_text(setting, value);

	if (why == NULL && (name[0] == '-' || has_control(name) || strchr(name, ' ') != NULL))
		why = xasprintf("must be the name of a branch or commit, which '%s' is not", name);
	return why;
}

static char *refuse_choice(const struct setting *setting, const json_t *value)
{
	if (!json_is_string(value) || has_nul(value) || state_value(setting->choices, json_string_value(value)) == -1)
		return choices_text(setting->choices);
	return NULL;
}

/* Of an agent, a profile or an account. */
static char *refuse_table_name(const struct setting *setting, const json_t *value)
{
	const char *what = setting->kind == SETTING_AGENT ? "an agent" : setting->kind == SETTING_ACCOUNT ? "an account" : "a profile";
	char *wanted, *why;

	if (json_is_string(value) && !has_nul(value) && setting_table_name(json_string_value(value)))
		return NULL;
	wanted = xasprintf("the name of %s%s", what, json_is_string(value) ? ": letters, digits, \"-\" and \"_\", at most 64" : "");
	why = json_is_string(value) ? xasprintf("must be %s", wanted) : not_a(wanted, value);
	free(wanted);
	return why;
}

static char *refuse_file(const struct setting *setting, const json_t *value)
{
	bool none = setting->kind == SETTING_FILE_OR_NONE;

	if (!json_is_string(value))
		return not_a(none ? "an absolute path or \"none\"" : "an absolute path", value);
	if (has_nul(value))
		return xstrdup("must not contain a NUL character");
	if (none && strcmp(json_string_value(value), "none") == 0)
		return NULL;
	if (json_string_value(value)[0] != '/')
		return xasprintf("must be an absolute path%s: begin it with \"/\"", none ? " or \"none\"" : "");
	return NULL;
}

/* Why a text is no path below a directory, as the end of a sentence; NULL when it is one. The repository's own
 * folder is nobody's to read or write. */
static const char *refuse_below(const char *path)
{
	if (path[0] == '\0')
		return "is empty";
	if (path[0] == '/')
		return "is an absolute path";
	for (const char *p = path; *p != '\0'; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (n == 2 && memcmp(p, "..", 2) == 0)
			return "leads out of the working directory";
		if (n == 4 && strncasecmp(p, ".git", 4) == 0)
			return "leads into .git";
		p += n;
	}
	return NULL;
}

static char *refuse_directory(const struct setting *setting, const json_t *value)
{
	const char *path = json_string_value(value), *fault;

	(void)setting;
	if (!json_is_string(value))
		return not_a("a directory, or \"\" for none", value);
	if (has_nul(value) || has_control(path))
		return xstrdup("must not contain control characters");
	fault = path[0] == '\0' || path[0] == '/' ? NULL : refuse_below(path);
	return fault == NULL ? NULL : xasprintf("must be an absolute path or one below the working directory, but '%s' %s", path, fault);
}

/* What would be a pattern in a file of git's is no plain name. */
static char *refuse_file_name(const struct setting *setting, const json_t *value)
{
	const char *name = json_string_value(value);

	(void)setting;
	if (!json_is_string(value))
		return not_a("the name of a file", value);
	if (has_nul(value) || has_control(name))
		return xstrdup("must not contain control characters");
	if (name[0] == '\0' || strlen(name) > 255 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcasecmp(name, ".git") == 0 ||
	    strpbrk(name, "/*?[\\") != NULL || strchr("-!#: ", name[0]) != NULL || name[strlen(name) - 1] == ' ')
		return xasprintf("must be the plain name of a file in the working directory, which '%s' is not", name);
	return NULL;
}

static char *refuse_program(const struct setting *setting, const json_t *value)
{
	const char *path = json_string_value(value);

	(void)setting;
	if (!json_is_string(value))
		return not_a("a program", value);
	if (has_nul(value))
		return xstrdup("must not contain a NUL character");
	if (path[0] == '\0')
		return xstrdup("must be a program: an absolute path, or a name to be found on PATH");
	if (path[0] != '/' && strchr(path, '/') != NULL)
		return xasprintf("must be an absolute path or a name without \"/\", which '%s' is not", path);
	return NULL;
}

/* A word of a list that is no string without NUL; NULL when all are. */
static char *refuse_words(const json_t *value, const char *wanted)
{
	const json_t *word;
	size_t i;

	if (!json_is_array(value))
		return not_a(wanted, value);
	json_array_foreach(value, i, word) {
		if (!json_is_string(word))
			return xasprintf("must be %s, but item %zu is %s", wanted, i + 1, type_name(word));
		if (has_nul(word))
			return xasprintf("must not contain a NUL character, as item %zu does", i + 1);
	}
	return NULL;
}

static char *refuse_argv(const struct setting *setting, const json_t *value)
{
	char *why = refuse_words(value, "an array of strings");

	if (why == NULL && (json_array_size(value) < (size_t)setting->min ||
	    (json_array_size(value) > 0 && json_string_length(json_array_get(value, 0)) == 0)))
		return xstrdup(setting->min > 0 ? "must begin with the program to start" : "must not begin with an empty word");
	return why;
}

static char *refuse_agents(const struct setting *setting, const json_t *value)
{
	char *why = refuse_words(value, "an array of names of agents");
	const json_t *name;
	size_t i;

	(void)setting;
	json_array_foreach(value, i, name) {
		if (why == NULL && !setting_table_name(json_string_value(name)))
			why = xasprintf("must be an array of names of agents, which item %zu is not", i + 1);
	}
	return why;
}

static char *refuse_texts(const struct setting *setting, const json_t *value)
{
	char *why = refuse_words(value, "an array of strings");
	const json_t *text;
	size_t i;

	json_array_foreach(value, i, text) {
		if (why == NULL && strspn(json_string_value(text), " \t\r\n") == json_string_length(text))
			why = xasprintf("must not have empty items, as item %zu is", i + 1);
		if (why == NULL && json_string_length(text) > (size_t)setting->max)
			why = xasprintf("must have items of at most %" PRId64 " bytes, but item %zu has %zu", setting->max, i + 1, json_string_length(text));
	}
	return why;
}

static char *refuse_lines(const struct setting *setting, const json_t *value)
{
	char *why = refuse_texts(setting, value);
	const json_t *text;
	size_t i;

	json_array_foreach(value, i, text) {
		if (why == NULL && has_control(json_string_value(text)))
			why = xasprintf("must have items of one line without control characters, which item %zu is not", i + 1);
	}
	return why;
}

static char *refuse_files(const struct setting *setting, const json_t *value)
{
	char *why = refuse_words(value, "an array of names of files");
	const char *fault;
	const json_t *path;
	size_t i;

	(void)setting;
	json_array_foreach(value, i, path) {
		if (why == NULL && (fault = refuse_below(json_string_value(path))) != NULL)
			why = xasprintf("must have paths below the working directory, but item %zu %s", i + 1, fault);
	}
	return why;
}

static char *refuse_paths(const struct setting *setting, const json_t *value)
{
	char *why = refuse_words(value, "an array of paths");
	const json_t *path;
	size_t i;

	(void)setting;
	json_array_foreach(value, i, path) {
		const char *text = json_string_value(path);

		if (why == NULL && text[0] != '/' && strncmp(text, "~/", 2) != 0)
			why = xasprintf("must have absolute paths or such that begin with \"~/\", which item %zu does not", i + 1);
	}
	return why;
}

static char *refuse_sections(const struct setting *setting, const json_t *value)
{
	static const char *const members[] = { "file", "section" };
	const char *fault;
	const json_t *item;
	size_t i;

	(void)setting;
	if (!json_is_array(value))
		return not_a("an array of tables { file = \"...\", section = \"...\" }", value);
	json_array_foreach(value, i, item) {
		if (!json_is_object(item))
			return xasprintf("must be an array of tables { file = \"...\", section = \"...\" }, but item %zu is %s", i + 1, type_name(item));
		for (size_t m = 0; m < 2; m++) {
			const json_t *text = json_object_get(item, members[m]);

			if (!json_is_string(text) || has_nul(text) || json_string_length(text) == 0)
				return xasprintf("must have a text '%s' in each table, which item %zu has not", members[m], i + 1);
		}
		if (json_object_size(item) != 2)
			return xasprintf("must have nothing but 'file' and 'section' in each table, but item %zu has more", i + 1);
		if ((fault = refuse_below(json_string_value(json_object_get(item, "file")))) != NULL)
			return xasprintf("must have paths below the working directory, but the file of item %zu %s", i + 1, fault);
	}
	return NULL;
}

/* Who writes a value where a name belongs may have written a secret: it is not repeated. */
static char *unfit(const char *name)
{
	size_t size = strcspn(name, "=");
	char *text = xstrdup(name), *why;

	if (name[size] == '=')
		why = xasprintf("names a variable '%.*s=...', but names are made of letters, digits and \"_\": write the name alone in env, "
		    "or NAME = \"VALUE\" in set", (int)size, name);
	else if (secret_is_key(name, size) || redact_string(NULL, &text))
		why = xstrdup("has what looks like a secret in place of the name of a variable, which holds it");
	else
		why = xasprintf("names a variable '%s', but names are made of letters, digits and \"_\"", name);
	free(text);
	return why;
}

/* Why a text cannot name a variable of an agent, NULL when it can. */
static char *refuse_name(const char *name)
{
	static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char later[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

	if (name[0] == '\0' || strchr(first, name[0]) == NULL || name[strspn(name, later)] != '\0')
		return unfit(name);
	if (strncmp(name, "RL_", 3) == 0)
		return xasprintf("names a variable '%s', but those that begin with RL_ are set by rld", name);
	return NULL;
}

static char *refuse_names(const struct setting *setting, const json_t *value)
{
	char *why = refuse_words(value, "an array of names of variables");
	const json_t *word;
	size_t i;

	(void)setting;
	if (why != NULL)
		return why;
	json_array_foreach(value, i, word) {
		if ((why = refuse_name(json_string_value(word))) != NULL)
			return why;
	}
	return NULL;
}

static char *refuse_map(const struct setting *setting, const json_t *value)
{
	const char *name;
	json_t *text;
	char *why;

	(void)setting;
	if (!json_is_object(value))
		return not_a("a table of variables", value);
	json_object_foreach((json_t *)value, name, text) {
		if ((why = refuse_name(name)) != NULL)
			return why;
		if (!json_is_string(text))
			return xasprintf("must hold strings, but '%s' is %s", name, type_name(text));
		if (has_nul(text))
			return xasprintf("must not contain a NUL character, as '%s' does", name);
	}
	return NULL;
}

char *setting_refuse(const struct setting *setting, const json_t *value)
{
	static char *(*const refuse[SETTING_KINDS])(const struct setting *, const json_t *) = {
		[SETTING_BOOL] = refuse_bool,
		[SETTING_INT] = refuse_int,
		[SETTING_DURATION] = refuse_duration,
		[SETTING_SIZE] = refuse_size,
		[SETTING_TEXT] = refuse_text,
		[SETTING_REVISION] = refuse_revision,
		[SETTING_CHOICE] = refuse_choice,
		[SETTING_PROFILE] = refuse_table_name,
		[SETTING_AGENT] = refuse_table_name,
		[SETTING_AGENTS] = refuse_agents,
		[SETTING_ACCOUNT] = refuse_table_name,
		[SETTING_MONEY] = refuse_money,
		[SETTING_FILE] = refuse_file,
		[SETTING_FILE_OR_NONE] = refuse_file,
		[SETTING_DIRECTORY] = refuse_directory,
		[SETTING_FILE_NAME] = refuse_file_name,
		[SETTING_PROGRAM] = refuse_program,
		[SETTING_ARGV] = refuse_argv,
		[SETTING_TEXTS] = refuse_texts,
		[SETTING_LINES] = refuse_lines,
		[SETTING_FILES] = refuse_files,
		[SETTING_PATHS] = refuse_paths,
		[SETTING_SECTIONS] = refuse_sections,
		[SETTING_NAMES] = refuse_names,
		[SETTING_MAP] = refuse_map,
	};

	return refuse[setting->kind](setting, value);
}

int64_t setting_number(const struct setting *setting, const json_t *value)
{
	int64_t number = 0;

	switch (setting->kind) {
	case SETTING_BOOL:
		return json_is_true(value);
	case SETTING_INT:
		return json_integer_value(value);
	case SETTING_DURATION:
		if (duration_value(value, &number) == 0)
			return number;
		break;
	case SETTING_SIZE:
		if (size_value(value, &number) == 0)
			return number;
		break;
	case SETTING_CHOICE:
		return state_value(setting->choices, json_string_value(value));
	case SETTING_MONEY:
	case SETTING_TEXT:
	case SETTING_REVISION:
	case SETTING_PROFILE:
	case SETTING_AGENT:
	case SETTING_AGENTS:
	case SETTING_ACCOUNT:
	case SETTING_FILE:
	case SETTING_FILE_OR_NONE:
	case SETTING_DIRECTORY:
	case SETTING_FILE_NAME:
	case SETTING_PROGRAM:
	case SETTING_ARGV:
	case SETTING_TEXTS:
	case SETTING_LINES:
	case SETTING_FILES:
	case SETTING_PATHS:
	case SETTING_SECTIONS:
	case SETTING_NAMES:
	case SETTING_MAP:
	case SETTING_KINDS:
		break;
	}
	abort();
}

double setting_money(const json_t *value)
{
	return json_number_value(value);
}

json_t *setting_json(const struct setting *setting, int64_t number)
{
	static const struct { int64_t ms; const char *unit; } units[] = { { 3600 * SECOND, "h" }, { 60 * SECOND, "m" }, { SECOND, "s" } };

	if (setting->kind == SETTING_BOOL)
		return json_boolean(number != 0);
	if (setting->kind == SETTING_CHOICE)
		return json_string(state_name(setting->choices, (int)number));
	for (size_t i = 0; setting->kind == SETTING_DURATION && i < sizeof(units) / sizeof(units[0]); i++) {
		if (number != 0 && number % units[i].ms == 0)
			return json_sprintf("%" PRId64 "%s", number / units[i].ms, units[i].unit);
	}
	return json_integer(number);
}
