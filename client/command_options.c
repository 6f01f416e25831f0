/* SPDX-License-Identifier: MIT */
#include "client/command_options.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/exit.h"
#include "client/message.h"
#include "client/table.h"
#include "proto/memory.h"
#include "proto/near.h"
#include "proto/schema.h"
#include "proto/units.h"

#define ROWS_MAX 80
#define CHOICES_MAX 8
#define UID_LAST ((long long)UINT32_MAX - 1)	/* -1 is not a valid user */
#define FIRST_CODE 256		/* what getopt_long returns for row 0: greater than every letter */

void options_init(struct options *o)
{
	const char *host = getenv("RLD_HOST");

	*o = (struct options){ .values = json_object(), .params = json_object(),
		.elsewhere = host != NULL && *host != '\0' };
}

void options_release(struct options *o)
{
	json_decref(o->values);
	json_decref(o->params);
}

/* Store the value in values under the option's name, and in params under a path of at most two
 * names. Takes ownership of value. */
static void options_store(json_t *object, const char *path, json_t *value)
{
	const char *dot = strchr(path, '.');
	char *outer;

	if (dot == NULL) {
		json_object_set_new(object, path, value);
		return;
	}
	outer = xasprintf("%.*s", (int)(dot - path), path);
	if (json_object_get(object, outer) == NULL)
		json_object_set_new(object, outer, json_object());
	json_object_set_new(json_object_get(object, outer), dot + 1, value);
	free(outer);
}

/* Whether the option's argument is optional. */
static bool is_maybe(const struct option_row *row)
{
	return row->kind == OPTION_MAYBE_TEXT || row->kind == OPTION_MAYBE_DIRECTORY;
}

static void options_forget(json_t *object, const char *path)
{
	const char *dot = strchr(path, '.');
	char *outer;

	if (dot == NULL) {
		json_object_del(object, path);
		return;
	}
	outer = xasprintf("%.*s", (int)(dot - path), path);
	json_object_del(json_object_get(object, outer), dot + 1);
	free(outer);
}

bool options_is_choice(const char *words, const char *text)
{
	size_t length = strlen(text);

	for (const char *word = words; word != NULL; word = strchr(word, '|')) {
		word += *word == '|';
		if (length > 0 && strncmp(word, text, length) == 0 && (word[length] == '|' || word[length] == '\0'))
			return true;
	}
	return false;
}

/* An absolute path as JSON, or NULL after a message. */
static json_t *path_value(const struct option_row *row, const char *path)
{
	char real[PATH_MAX];
	struct stat st;
	bool directory = row->kind == OPTION_DIRECTORY || row->kind == OPTION_MAYBE_DIRECTORY;
	json_t *value;

	if (realpath(path, real) == NULL || stat(real, &st) == -1) {
		message_errno("--%s: %s", row->name, path);
		return NULL;
	}
	if (directory && !S_ISDIR(st.st_mode)) {
		message_error("--%s: %s is not a directory", row->name, path);
		return NULL;
	}
	if (!directory && !S_ISREG(st.st_mode)) {
		message_error("--%s: %s is not a regular file", row->name, path);
		return NULL;
	}
	if (!directory && faccessat(AT_FDCWD, real, R_OK, AT_EACCESS) == -1) {
		message_errno("--%s: %s", row->name, path);
		return NULL;
	}
	value = json_string(real);
	if (value == NULL)
		message_error("--%s: the path is not UTF-8; move the file to a UTF-8 path", row->name);
	return value;
}

/* A path of the daemon's machine, or NULL after a message. */
static json_t *path_elsewhere(const struct option_row *row, const char *path)
{
	json_t *value;

	if (*path != '/') {
		message_error("--%s: %s is relative, but it names a %s of the other machine: give an absolute path",
		    row->name, path, row->kind == OPTION_DIRECTORY || row->kind == OPTION_MAYBE_DIRECTORY ?
		    "directory" : "file");
		return NULL;
	}
	value = json_string(path);
	if (value == NULL)
		message_error("--%s: the path is not UTF-8; choose a UTF-8 path", row->name);
	return value;
}

/* The absolute path of a file that may not exist yet, or NULL after a message. */
static json_t *new_file_value(const struct option_row *row, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
	char *directory = slash == NULL
	    ? xstrdup(".")
	    : xasprintf("%.*s", slash == path ? 1 : (int)(slash - path), path);
	char real[PATH_MAX], target[PATH_MAX];
	struct stat st;
	json_t *value = NULL;

	if (realpath(directory, real) == NULL || stat(real, &st) == -1) {
		message_errno("--%s: %s", row->name, directory);
	} else if (!S_ISDIR(st.st_mode)) {
		message_error("--%s: %s is not a directory", row->name, directory);
	} else if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    (stat(path, &st) == 0 && S_ISDIR(st.st_mode))) {
		message_error("--%s: %s is a directory; name a file in it", row->name, path);
	} else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		message_error("--%s: %s is not a regular file; name another", row->name, path);
	} else {
		/* resolve links: what is meant is their target */
		value = realpath(path, target) != NULL
		    ? json_string(target)
		    : json_sprintf("%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
		if (value == NULL)
			message_error("--%s: the path is not UTF-8; choose a UTF-8 path", row->name);
	}
	free(directory);
	return value;
}

static json_t *options_wrong(const struct option_row *row, const char *why, int *status)
{
	message_error("--%s %s", row->name, why);
	*status = EXIT_USAGE;
	return NULL;
}

/* The value of a word of a type known to the schema. */
static json_t *read_word(const struct option_row *row, const struct schema *schema, const char *word, int *status)
{
	struct schema_error error = { 0 };
	json_t *value = schema_read(schema, word, &error);

	return value != NULL ? value : options_wrong(row, error.text, status);
}

static json_t *text_value(const struct option_row *row, const char *text, int *status)
{
	return read_word(row, &(struct schema){ .kind = SCHEMA_TEXT }, text, status);
}

/* One of the words listed in `argument`. */
static json_t *choice_value(const struct option_row *row, const char *text, int *status)
{
	char *words = xstrdup(row->argument), *rest = words;
	const char *list[CHOICES_MAX];
	struct state_names names = { row->name, list, 0, NULL };
	json_t *value;

	while (rest != NULL && names.count < CHOICES_MAX)
		list[names.count++] = strsep(&rest, "|");
	value = read_word(row, &(struct schema){ .kind = SCHEMA_CHOICE, .choices = &names }, text, status);
	free(words);
	return value;
}

/* Keep links: some programs depend on the name they are called by. */
static json_t *program_value(const struct option_row *row, const char *path, int *status)
{
	char here[PATH_MAX], *text;
	json_t *value;

	if (*path == '\0')
		return options_wrong(row, "must be a program", status);
	if (*path == '/' || strchr(path, '/') == NULL)
		return text_value(row, path, status);
	if (getcwd(here, sizeof(here)) == NULL) {
		message_errno("--%s: the current directory", row->name);
		*status = EXIT_REFUSED;
		return NULL;
	}
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	text = xasprintf("%s/%s", here, path);
	value = text_value(row, text, status);
	free(text);
	return value;
}

/* The value of an option, or NULL with the exit code in *status. elsewhere: paths are of another
 * machine. */
static json_t *read_value(const struct option_row *row, const char *text, bool elsewhere, int *status)
{
	static const struct schema schemas[] = {
		[OPTION_NUMBER] = { .kind = SCHEMA_INT, .min = INT32_MIN, .max = INT32_MAX },
		[OPTION_COUNT] = { .kind = SCHEMA_INT, .min = 0, .max = INT64_MAX },
		[OPTION_POSITIVE] = { .kind = SCHEMA_INT, .min = 1, .max = INT64_MAX },
		[OPTION_UID] = { .kind = SCHEMA_INT, .min = 0, .max = UID_LAST },
		[OPTION_DURATION] = { .kind = SCHEMA_DURATION, .min = 0, .max = DURATION_MAX },
		[OPTION_MONEY] = { .kind = SCHEMA_MONEY, .min = 0, .max = INT64_MAX },
	};
	const struct passwd *user;
	json_t *value;

	switch (row->kind) {
	case OPTION_TRUE:
		return json_true();
	case OPTION_FALSE:
		return json_false();
	case OPTION_TEXT:
	case OPTION_SOURCE:
	case OPTION_PAIR:
	case OPTION_LABEL:
	case OPTION_LIST:
	case OPTION_NAMES:
		return text_value(row, text, status);
	case OPTION_PROGRAM:
		if (elsewhere && *text != '/' && strchr(text, '/') != NULL)
			break;
		return program_value(row, text, status);
	case OPTION_MAYBE_TEXT:
		return text == NULL ? json_true() : text_value(row, text, status);
	case OPTION_NUMBER:
	case OPTION_COUNT:
	case OPTION_POSITIVE:
	case OPTION_UID:
	case OPTION_DURATION:
	case OPTION_MONEY:
		return read_word(row, &schemas[row->kind], text, status);
	case OPTION_USER:
		user = elsewhere ? NULL : getpwnam(text);
		if (user != NULL)
			return json_integer(user->pw_uid);
		if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
			return options_wrong(row, elsewhere ? "must be a user ID: names are of this machine" :
			    "must be a user of this host, or a user ID", status);
		return read_word(row, &schemas[OPTION_UID], text, status);
	case OPTION_CHOICE:
		return choice_value(row, text, status);
	case OPTION_FILE_OR_NONE:
		if (strcmp(text, "none") == 0)
			return json_string(text);
		break;
	case OPTION_MAYBE_DIRECTORY:
		if (text == NULL)
			return json_true();
		break;
	case OPTION_FILE:
	case OPTION_CONTENT:
	case OPTION_NEW_FILE:
	case OPTION_DIRECTORY:
		break;
	}
	elsewhere = elsewhere && row->kind != OPTION_CONTENT;
	value = elsewhere                      ? path_elsewhere(row, text)
	    : row->kind == OPTION_NEW_FILE ? new_file_value(row, text)
	                                   : path_value(row, text);
	if (value == NULL)
		*status = elsewhere ? EXIT_USAGE : EXIT_REFUSED;
	return value;
}

/* Add NAME=VALUE to the object of the parameter. Takes ownership of value. */
static int store_pair(struct options *o, const struct option_row *row, json_t *value)
{
	const char *text = json_string_value(value), *equals = strchr(text, '=');
	json_t *object = json_object_get(o->params, row->param);
	bool twice;
	char *name;

	if (equals == NULL || equals == text) {
		json_decref(value);
		message_error("--%s must be %s", row->name, row->argument);
		return EXIT_USAGE;
	}
	if (object == NULL) {
		object = json_object();
		json_object_set_new(o->params, row->param, object);
	}
	name = xasprintf("%.*s", (int)(equals - text), text);
	twice = row->kind == OPTION_LABEL && json_object_get(object, name) != NULL;
	if (twice)
		message_error("--%s %s is given twice: a run has one value of it", row->name, name);
	json_object_set_new(object, name, json_string(equals + 1));
	free(name);
	json_decref(value);
	return twice ? EXIT_USAGE : 0;
}

/* Add a text to the array of the parameter. Takes ownership of value. */
static int store_item(struct options *o, const struct option_row *row, json_t *value)
{
	const char *dot = strchr(row->param, '.');
	char *outer = dot != NULL ? xasprintf("%.*s", (int)(dot - row->param), row->param) : NULL;
	const json_t *object = outer != NULL ? json_object_get(o->params, outer) : o->params;
	json_t *array = json_object_get(object, dot != NULL ? dot + 1 : row->param);

	free(outer);
	if (array == NULL) {
		array = json_array();
		options_store(o->params, row->param, array);
	}
	json_array_append_new(array, value);
	return 0;
}

/* Each name between the commas. Takes ownership of value. */
static int store_names(struct options *o, const struct option_row *row, json_t *value)
{
	const char *at = json_string_value(value);
	size_t size;

	/* also if there is none, which says that there are none */
	options_store(o->params, row->param, json_array());
	for (; *at != '\0'; at += size + (at[size] == ',')) {
		size = strcspn(at, ",");
		if (size == 0 || strcmp(at + size, ",") == 0) {
			json_decref(value);
			message_error("--%s must be %s: a name is empty", row->name, row->argument);
			return EXIT_USAGE;
		}
		store_item(o, row, json_stringn(at, size));
	}
	json_decref(value);
	return 0;
}

static int options_take(struct options *o, const struct option_row *row, const char *text)
{
	int status = 0;
	json_t *value = read_value(row, text, o->elsewhere, &status);

	if (value == NULL)
		return status;
	if (row->kind == OPTION_PAIR || row->kind == OPTION_LABEL)
		return store_pair(o, row, value);
	if (row->kind == OPTION_NAMES)
		return store_names(o, row, value);
	if (row->kind == OPTION_LIST)
		return store_item(o, row, value);
	if (row->also != NULL)
		options_store(o->params, row->also, json_true());
	if (row->param != NULL && row->kind == OPTION_MAYBE_TEXT && text == NULL)
		options_forget(o->params, row->param);
	else if (row->param != NULL)
		options_store(o->params, row->param, json_incref(value));
	json_object_set_new(o->values, row->name, value);
	return 0;
}

/* The rows in the form that getopt needs. */
struct table {
	const struct option_row *rows[ROWS_MAX];
	struct option longs[ROWS_MAX + 1];
	char shorts[2 * ROWS_MAX + 3];
	int count;
};

static void table_add(struct table *t, const struct option_row *rows)
{
	for (; rows != NULL && rows->name != NULL && t->count < ROWS_MAX; rows++) {
		char *end = t->shorts + strlen(t->shorts);
		int argument = rows->argument == NULL ? no_argument
		    : is_maybe(rows)                  ? optional_argument
		                                      : required_argument;

		t->longs[t->count] = (struct option){ rows->name, argument, NULL, FIRST_CODE + t->count };
		t->rows[t->count++] = rows;
		if (rows->letter != 0) {
			*end++ = rows->letter;
			if (argument == required_argument)
				*end = ':';
		}
	}
}

static const struct option_row *table_find(const struct table *t, int code)
{
	for (int i = 0; i < t->count; i++)
		if (code == FIRST_CODE + i || (t->rows[i]->letter != 0 && code == t->rows[i]->letter))
			return t->rows[i];
	return NULL;
}

/* word: "--name" or "--name=..." */
static void refuse_name(const struct table *t, const char *word)
{
	char *name = xmemdup0(word + 2, strcspn(word + 2, "="));
	struct near near = { .word = name };

	for (int i = 0; i < t->count; i++)
		near_offer(&near, t->rows[i]->name);
	if (near.best != NULL)
		message_error("unrecognized option '%s'; did you mean --%s?", word, near.best);
	else
		message_error("unrecognized option '%s'", word);
	free(name);
}

/* code: what getopt returned. word: the argument that it could not use. words: others may be
 * text. */
static void refuse_option(const struct table *t, int code, const char *word, bool words)
{
	bool is_long = strncmp(word, "--", 2) == 0;

	if (code == ':' && is_long)
		message_error("option '%s' requires an argument", word);
	else if (code == ':')
		message_error("option requires an argument -- '%c'", optopt);
	else if (is_long && optopt >= FIRST_CODE)
		message_error("option '%.*s' doesn't allow an argument", (int)strcspn(word, "="), word);
	else if (is_long)
		refuse_name(t, word);
	else
		message_error("invalid option -- '%c'", optopt);
	message_hint(words ? "--help lists the options; in a task, put -- before words that begin with -" :
	    "--help lists the options");
}

static void getopt_restart(void)
{
	optind = 0;	/* glibc: start over, because options are parsed more than once */
	opterr = 0;
}

/* Whether --host is among the options; it may follow a path. */
static bool names_host(const struct table *t, int argc, char **argv)
{
	bool found = false;
	int code;

	getopt_restart();
	while ((code = getopt_long(argc, argv, t->shorts, t->longs, NULL)) != -1) {
		const struct option_row *row = table_find(t, code);

		found = found || (row != NULL && strcmp(row->name, "host") == 0);
	}
	return found;
}

int options_parse(struct options *o, int argc, char **argv, const struct option_row *own, bool leading)
{
	struct table t = { .count = 0 };
	int code, status;

	if (leading)
		t.shorts[0] = '+';
	t.shorts[leading] = ':';
	table_add(&t, options_common);
	table_add(&t, own);
	o->elsewhere = names_host(&t, argc, argv) || o->elsewhere;
	getopt_restart();
	while ((code = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
		const struct option_row *row = table_find(&t, code);

		if (row == NULL) {
			refuse_option(&t, code, argv[optind - 1], own == options_submit);
			return EXIT_USAGE;
		}
		status = options_take(o, row, optarg);
		if (status != 0)
			return status;
	}
	o->arguments = argv + optind;
	o->count = argc - optind;
	return 0;
}

const char *options_text(const struct options *o, const char *name)
{
	return json_string_value(json_object_get(o->values, name));
}

bool options_given(const struct options *o, const char *name)
{
	return json_object_get(o->values, name) != NULL;
}

static const struct option_row *row_for_param(const struct option_row *rows, const char *param)
{
	for (; rows != NULL && rows->name != NULL; rows++)
		if (rows->param != NULL && strcmp(rows->param, param) == 0)
			return rows;
	return NULL;
}

const char *options_for_param(const struct option_row *rows, const char *param)
{
	const struct option_row *row = row_for_param(rows, param);

	return row != NULL ? row->name : NULL;
}

bool options_is_number(const struct option_row *rows, const char *param)
{
	const struct option_row *row = row_for_param(rows, param);

	return row != NULL && (row->kind == OPTION_NUMBER || row->kind == OPTION_COUNT || row->kind == OPTION_POSITIVE);
}

void options_print_row(FILE *file, int indent, const char *left, int width, const char *help)
{
	fprintf(file, "%-*s", width, left);
	if (strlen(left) > (size_t)width)
		fprintf(file, "\n%*s", indent + width, "");
	fprintf(file, " %s\n", help);
}

void options_print(FILE *file, const struct option_row *rows)
{
	for (; rows != NULL && rows->name != NULL; rows++) {
		const char *before = rows->argument == NULL ? "" : is_maybe(rows) ? "[=" : " ";
		char *left = xasprintf("--%s%s%s%s", rows->name, before, rows->argument == NULL ? "" : rows->argument,
			is_maybe(rows) ? "]" : "");

		if (rows->letter != 0)
			fprintf(file, "  -%c, ", rows->letter);
		else
			fputs("      ", file);
		options_print_row(file, 6, left, 30, rows->help);
		free(left);
	}
}
