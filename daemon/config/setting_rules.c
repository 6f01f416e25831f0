/* SPDX-License-Identifier: MIT */
#include "config/setting_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "core/quorum.h"
#include "proto/memory.h"
#include "base/secret_patterns.h"

#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGIT "0123456789"

static bool has_control(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	}
	return false;
}

bool setting_table_name(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= 64 && name[0] != '-' && name[0] != '_' && strspn(name, UPPER LOWER DIGIT "_-") == n;
}

static bool fits_name_of(const char *what, const char *name, struct schema_error *error)
{
	return setting_table_name(name) ||
	    schema_refuse(error, "must be the name of %s: letters, digits, \"-\" and \"_\", at most 64", what);
}

static bool fits_agent(const char *name, struct schema_error *error)
{
	return fits_name_of("an agent", name, error);
}

static bool fits_profile(const char *name, struct schema_error *error)
{
	return fits_name_of("a profile", name, error);
}

static bool fits_account(const char *name, struct schema_error *error)
{
	return fits_name_of("an account", name, error);
}

static bool fits_launcher(const char *name, struct schema_error *error)
{
	return fits_name_of("a launcher", name, error);
}

/* A word of a command, which must not be an option of it. */
static bool fits_host(const char *name, struct schema_error *error)
{
	return (name[0] != '-' && name[strspn(name, UPPER LOWER DIGIT "_.-:@%[]")] == '\0') ||
	    schema_refuse(error, "must be the name of a machine: letters, digits and \"_.-:@%%[]\", '%.64s' is not",
	        name);
}

/* A leading "-" would make it an option. */
static bool fits_revision(const char *name, struct schema_error *error)
{
	return (name[0] != '-' && !has_control(name) && strchr(name, ' ') == NULL) ||
	    schema_refuse(error, "must be the name of a branch or commit, '%s' is not", name);
}

static bool fits_file(const char *path, struct schema_error *error)
{
	return path[0] == '/' || schema_refuse(error,
	    "must be an absolute path starting with \"/\"");
}

static bool fits_file_or_none(const char *path, struct schema_error *error)
{
	return path[0] == '/' || strcmp(path, "none") == 0 ||
	    schema_refuse(error, "must be an absolute path starting with \"/\", or \"none\"");
}

/* Why a text is not a path below a directory, as the end of a sentence; NULL if it is one. Agents
 * must not read or write .git. */
static const char *fault_below(const char *path)
{
	if (path[0] == '\0')
		return "is empty";
	if (path[0] == '/')
		return "is an absolute path";
	for (const char *p = path; *p != '\0'; p += strspn(p, "/")) {
		size_t n = strcspn(p, "/");

		if (n == 2 && memcmp(p, "..", 2) == 0)
			return "leaves the working directory";
		if (n == 4 && strncasecmp(p, ".git", 4) == 0)
			return "is inside .git";
		p += n;
	}
	return NULL;
}

static bool fits_below(const char *path, struct schema_error *error)
{
	const char *fault = fault_below(path);

	return fault == NULL ||
	    schema_refuse(error, "must be a path below the working directory, but '%s' %s", path, fault);
}

static bool fits_directory(const char *path, struct schema_error *error)
{
	const char *fault = path[0] == '\0' || path[0] == '/' ? NULL : fault_below(path);

	if (has_control(path))
		return schema_refuse(error, "must not contain control characters");
	return fault == NULL ||
	    schema_refuse(error,
	    "must be an absolute path or one below the working directory, but '%s' %s", path, fault);
}

/* A pattern character would have a meaning in git's exclude file. */
static bool fits_file_name(const char *name, struct schema_error *error)
{
	if (has_control(name))
		return schema_refuse(error, "must not contain control characters");
	if (name[0] == '\0' || strlen(name) > 255 || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0 || strcasecmp(name, ".git") == 0 ||
	    strpbrk(name, "/*?[\\") != NULL || strchr("-!#: ", name[0]) != NULL ||
	    name[strlen(name) - 1] == ' ')
		return schema_refuse(error,
		    "must be a plain file name in the working directory, '%s' is not", name);
	return true;
}

static bool fits_program(const char *path, struct schema_error *error)
{
	if (path[0] == '\0')
		return schema_refuse(error,
		    "must be a program: an absolute path, or a name on PATH");
	return path[0] == '/' || strchr(path, '/') == NULL ||
	    schema_refuse(error, "must be an absolute path or a name without \"/\", '%s' is not", path);
}

static bool fits_not_blank(const char *text, struct schema_error *error)
{
	return text[strspn(text, " \t\r\n")] != '\0' || schema_refuse(error, "must not be empty");
}

/* A pattern that can match nothing would protect nothing. */
static bool fits_pattern(const char *text, struct schema_error *error)
{
	const char *rest = text[0] == '/' ? text + 1 : text;
	const char *fault = rest[strspn(rest, " \t\r\n")] == '\0' ? "is empty" : fault_below(rest);

	for (const char *p = rest; fault == NULL && *p != '\0'; p += strcspn(p, "/"), p += *p == '/') {
		size_t n = strcspn(p, "/");

		if (n == 0 || (n == 1 && *p == '.'))
			fault = "has a component that no path has";
	}
	if (has_control(text))
		return schema_refuse(error, "must not contain control characters");
	return fault == NULL || schema_refuse(error,
	    "must be a pattern of paths from the top of the repository, but '%s' %s", text, fault);
}

static bool fits_line(const char *text, struct schema_error *error)
{
	if (!fits_not_blank(text, error))
		return false;
	return !has_control(text) || schema_refuse(error, "must be one line without control characters");
}

static bool fits_path(const char *path, struct schema_error *error)
{
	return path[0] == '/' || strncmp(path, "~/", 2) == 0 ||
	    schema_refuse(error, "must be an absolute path, or start with \"~/\"");
}

/* A value in place of a name may be a secret, so it is not repeated. */
static bool refuse_variable(const char *name, struct schema_error *error)
{
	size_t size = strcspn(name, "=");
	char *text = xstrdup(name);

	if (name[size] == '=')
		schema_refuse(error,
		    "names a variable '%.*s=...', but names consist of letters, digits and \"_\": "
		    "put only the name in env, or NAME = \"VALUE\" in set", (int)size, name);
	else if (secret_is_key(name, size) || redact_string(NULL, &text))
		schema_refuse(error,
		    "looks like a secret; put the name of the variable here, not its value");
	else
		schema_refuse(error,
		    "names a variable '%s', but names consist of letters, digits and \"_\"", name);
	free(text);
	return false;
}

static bool fits_variable(const char *name, struct schema_error *error)
{
	if (name[0] == '\0' || strchr(UPPER LOWER "_", name[0]) == NULL ||
	    name[strspn(name, UPPER LOWER "_" DIGIT)] != '\0')
		return refuse_variable(name, error);
	return strncmp(name, "RL_", 3) != 0 ||
	    schema_refuse(error,
	        "names a variable '%s', but rld sets all variables that start with RL_", name);
}

static bool fits_label(const char *name, struct schema_error *error)
{
	size_t size = strlen(name);

	return (size > 0 && size <= 64 && strchr(UPPER LOWER DIGIT, name[0]) != NULL &&
	    name[strspn(name, UPPER LOWER DIGIT "_.-/")] == '\0') ||
	    schema_refuse(error, "has a label '%s', but names of labels are letters, digits and \"_.-/\", at most 64",
	        name);
}

/* An integer is checked as such. */
static bool fits_quorum(const char *text, struct schema_error *error)
{
	return panel_quorum(text, PANEL_MAX) != -1 ||
	    schema_refuse(error, "must be \"all\", \"majority\", or a number of reviewers, is \"%.64s\"", text);
}

static bool fits_user(const char *name, struct schema_error *error)
{
	const char *rest = name[0] == '@' ? name + 1 : name;

	return (rest[0] != '\0' && strlen(rest) <= 256 && !has_control(rest) && strpbrk(rest, " :@/") == NULL) ||
	    schema_refuse(error, "must be the name of a user, or \"@\" and the name of a group, '%.64s' is not", name);
}

const struct schema_rule rule_revision = { "a string", "names of commits", fits_revision };
const struct schema_rule rule_profile = { "the name of a profile", "names of profiles", fits_profile };
const struct schema_rule rule_agent = { "the name of an agent", "names of agents", fits_agent };
const struct schema_rule rule_account = { "the name of an account", "names of accounts", fits_account };
const struct schema_rule rule_launcher = { "the name of a launcher", "names of launchers", fits_launcher };
const struct schema_rule rule_host = { "the name of a machine", "names of machines", fits_host };
const struct schema_rule rule_file = { "an absolute path", "paths", fits_file };
const struct schema_rule rule_file_or_none = { "an absolute path or \"none\"", "paths", fits_file_or_none };
const struct schema_rule rule_directory = { "a directory, or \"\" for none", "directories", fits_directory };
const struct schema_rule rule_file_name = { "the name of a file", "names of files", fits_file_name };
const struct schema_rule rule_program = { "a program", "programs", fits_program };
const struct schema_rule rule_not_blank = { "a string", "strings", fits_not_blank };
const struct schema_rule rule_line = { "a string", "strings", fits_line };
const struct schema_rule rule_below = { "a path", "names of files", fits_below };
const struct schema_rule rule_pattern = { "a pattern", "patterns", fits_pattern };
const struct schema_rule rule_path = { "a path", "paths", fits_path };
const struct schema_rule rule_variable = { "the name of a variable", "names of variables", fits_variable };
const struct schema_rule rule_quorum = { "\"all\", \"majority\" or a number", "quorums", fits_quorum };
const struct schema_rule rule_user = { "a user or @group", "users and @groups", fits_user };
const struct schema_rule rule_label = { "the name of a label", "names of labels", fits_label };
