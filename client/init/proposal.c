/* SPDX-License-Identifier: MIT */
#include "client/init/proposal.h"

#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "proto/memory.h"
#include "proto/scan.h"

#define MANIFEST_VALUES 20000	/* of a package.json */

const char *const proposal_directories[] = { "", "config", "tests", "test", ".streamlit", NULL };

/* ---- what the text of a file says ---- */

/* A line of a makefile or justfile that begins with word and a colon, as a target does. */
static bool has_target(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		const char *after;

		line += *line == '\n';
		if (strncmp(line, word, length) != 0)
			continue;
		after = line + length + strspn(line + length, " \t");
		if (after[0] == ':' && after[1] != '=' && !(after[1] == ':' && after[2] == '='))
			return true;
	}
	return false;
}

/* What npm init writes when there is no test. */
#define NO_TEST "no test specified"

/* Whether a package.json has this script. */
static bool has_script(const char *text, const char *word)
{
	const char *script;
	json_t *root;
	bool found;

	if (scan_json_within(text, strlen(text), SCAN_DEPTH, MANIFEST_VALUES) != SCAN_OK)
		return false;
	root = json_loads(text, 0, NULL);
	script = json_string_value(json_object_get(json_object_get(root, "scripts"), word));
	found = script != NULL && script[strspn(script, " \t\r\n")] != '\0' && strstr(script, NO_TEST) == NULL;
	json_decref(root);
	return found;
}

static bool has_word(const char *text, const char *word)
{
	return strstr(text, word) != NULL;
}

/* A file whose text is a sign. The file: a pattern of fnmatch(3) in which "*" matches no slash. */
static const struct clue {
	const char *file;
	bool (*has)(const char *text, const char *word);
	const char *word, *what;
} clues[] = {
	{ "GNUmakefile", has_target, "check", "make check" },
	{ "GNUmakefile", has_target, "test", "make test" },
	{ "makefile", has_target, "check", "make check" },
	{ "makefile", has_target, "test", "make test" },
	{ "Makefile", has_target, "check", "make check" },
	{ "Makefile", has_target, "test", "make test" },
	{ "justfile", has_target, "test", "just test" },
	{ "package.json", has_script, "test", "scripts.test" },
	{ "requirements.txt", has_word, "pytest", "pytest required" },
	{ "requirements.txt", has_word, "pytest", "pytest" },
	{ "requirements-dev.txt", has_word, "pytest", "pytest" },
	{ "pyproject.toml", has_word, "pytest", "pytest" },
	{ "setup.cfg", has_word, "[tool:pytest]", "pytest" },
	{ "tox.ini", has_word, "pytest", "pytest" },
	{ "Pipfile", has_word, "pytest", "pytest" },
	{ "test_*.py", has_word, "import pytest", "pytest" },
	{ "tests/test_*.py", has_word, "import pytest", "pytest" },
	{ "test/test_*.py", has_word, "import pytest", "pytest" },
	{ "test_*.py", has_word, "import unittest", "unittest at top" },
	{ "tests/test_*.py", has_word, "import unittest", "unittest in tests" },
	{ "test/test_*.py", has_word, "import unittest", "unittest in test" },
};

/* ---- what follows from signs ---- */

#define VENV "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt"

/* A command. Of the rows with the same key and kind, the first one that holds is proposed. sign,
 * with and without: what must be there, also be there, and not be there; NULL: no matter. */
static const struct command_row {
	enum proposal_key key;
	const char *kind, *sign, *with, *without;
	const char *value, *program;
} command_rows[] = {
	{ PROPOSAL_SETUP, "node", "bun.lock", NULL, NULL, "bun install --frozen-lockfile", "bun" },
	{ PROPOSAL_SETUP, "node", "bun.lockb", NULL, NULL, "bun install --frozen-lockfile", "bun" },
	{ PROPOSAL_SETUP, "node", "pnpm-lock.yaml", NULL, NULL, "pnpm install --frozen-lockfile", "pnpm" },
	{ PROPOSAL_SETUP, "node", "yarn.lock", ".yarnrc.yml", NULL, "yarn install --immutable", "yarn" },
	{ PROPOSAL_SETUP, "node", "yarn.lock", NULL, NULL, "yarn install --frozen-lockfile", "yarn" },
	{ PROPOSAL_SETUP, "node", "package-lock.json", NULL, NULL, "npm ci", "npm" },
	{ PROPOSAL_SETUP, "node", "npm-shrinkwrap.json", NULL, NULL, "npm ci", "npm" },
	{ PROPOSAL_SETUP, "python", "uv.lock", NULL, NULL, "uv sync --frozen", "uv" },
	{ PROPOSAL_SETUP, "python", "poetry.lock", NULL, NULL, "poetry install --no-interaction", "poetry" },
	{ PROPOSAL_SETUP, "python", "pdm.lock", NULL, NULL, "pdm sync", "pdm" },
	{ PROPOSAL_SETUP, "python", "Pipfile.lock", NULL, NULL, "pipenv sync --dev", "pipenv" },
	{ PROPOSAL_SETUP, "python", "requirements.txt", "requirements-dev.txt", NULL,
	    VENV " -r requirements-dev.txt", "python3" },
	{ PROPOSAL_SETUP, "python", "requirements.txt", "pytest", "pytest required", VENV " pytest", "python3" },
	{ PROPOSAL_SETUP, "python", "requirements.txt", NULL, NULL, VENV, "python3" },
	{ PROPOSAL_SETUP, "rust", "Cargo.lock", NULL, NULL, "cargo fetch --locked", "cargo" },
	{ PROPOSAL_SETUP, "go", "go.sum", NULL, NULL, "go mod download", "go" },
	{ PROPOSAL_SETUP, "ruby", "Gemfile.lock", NULL, NULL, "bundle install", "bundle" },
	{ PROPOSAL_SETUP, "php", "composer.lock", NULL, NULL, "composer install --no-interaction", "composer" },
	{ PROPOSAL_SETUP, "elixir", "mix.lock", NULL, NULL, "mix deps.get", "mix" },
	{ PROPOSAL_SETUP, "dart", "pubspec.lock", NULL, NULL, "dart pub get --enforce-lockfile", "dart" },
	{ PROPOSAL_SETUP, "swift", "Package.resolved", NULL, NULL, "swift package resolve", "swift" },

	/* The project's own word for all of its tests is enough. */
	{ PROPOSAL_CHECK, "all", "make check", NULL, NULL, "make check", "make" },
	{ PROPOSAL_CHECK, "all", "make test", NULL, NULL, "make test", "make" },
	{ PROPOSAL_CHECK, "all", "just test", NULL, NULL, "just test", "just" },
	{ PROPOSAL_CHECK, "node", "scripts.test", "bun.lock", NULL, "bun run test", "bun" },
	{ PROPOSAL_CHECK, "node", "scripts.test", "bun.lockb", NULL, "bun run test", "bun" },
	{ PROPOSAL_CHECK, "node", "scripts.test", "pnpm-lock.yaml", NULL, "pnpm test", "pnpm" },
	{ PROPOSAL_CHECK, "node", "scripts.test", "yarn.lock", NULL, "yarn test", "yarn" },
	{ PROPOSAL_CHECK, "node", "scripts.test", NULL, NULL, "npm test", "npm" },
	{ PROPOSAL_CHECK, "python", "pytest.ini", NULL, "pytest", "python3 -m pytest -q", "pytest" },
	{ PROPOSAL_CHECK, "python", "pytest", "uv.lock", NULL, "uv run pytest -q", "uv" },
	{ PROPOSAL_CHECK, "python", "pytest", "poetry.lock", NULL, "poetry run pytest -q", "poetry" },
	{ PROPOSAL_CHECK, "python", "pytest", "pdm.lock", NULL, "pdm run pytest -q", "pdm" },
	{ PROPOSAL_CHECK, "python", "pytest", "Pipfile.lock", NULL, "pipenv run pytest -q", "pipenv" },
	{ PROPOSAL_CHECK, "python", "pytest", "requirements.txt", NULL, ".venv/bin/python -m pytest -q", "python3" },
	{ PROPOSAL_CHECK, "python", "pytest", NULL, NULL, "python3 -m pytest -q", "pytest" },
	{ PROPOSAL_CHECK, "python", "unittest at top", "requirements.txt", NULL,
	    ".venv/bin/python -m unittest discover", "python3" },
	{ PROPOSAL_CHECK, "python", "unittest at top", NULL, NULL, "python3 -m unittest discover", "python3" },
	{ PROPOSAL_CHECK, "python", "unittest in tests", "requirements.txt", NULL,
	    ".venv/bin/python -m unittest discover -s tests -t .", "python3" },
	{ PROPOSAL_CHECK, "python", "unittest in tests", NULL, NULL,
	    "python3 -m unittest discover -s tests -t .", "python3" },
	{ PROPOSAL_CHECK, "python", "unittest in test", "requirements.txt", NULL,
	    ".venv/bin/python -m unittest discover -s test -t .", "python3" },
	{ PROPOSAL_CHECK, "python", "unittest in test", NULL, NULL,
	    "python3 -m unittest discover -s test -t .", "python3" },
	{ PROPOSAL_CHECK, "rust", "Cargo.toml", NULL, NULL, "cargo test", "cargo" },
	{ PROPOSAL_CHECK, "go", "go.mod", NULL, NULL, "go test ./...", "go" },
	{ PROPOSAL_CHECK, "ruby", ".rspec", NULL, NULL, "bundle exec rspec", "bundle" },
	{ PROPOSAL_CHECK, "php", "phpunit.xml", NULL, NULL, "vendor/bin/phpunit", "php" },
	{ PROPOSAL_CHECK, "php", "phpunit.xml.dist", NULL, NULL, "vendor/bin/phpunit", "php" },
	{ PROPOSAL_CHECK, "elixir", "mix.exs", NULL, NULL, "mix test", "mix" },
	{ PROPOSAL_CHECK, "java", "gradlew", NULL, NULL, "./gradlew test", "java" },
	{ PROPOSAL_CHECK, "java", "mvnw", NULL, NULL, "./mvnw -q test", "java" },
	{ PROPOSAL_CHECK, "java", "pom.xml", NULL, NULL, "mvn -q test", "mvn" },
	{ PROPOSAL_CHECK, "swift", "Package.swift", NULL, NULL, "swift test", "swift" },
};

/* Patterns of run.copy: files that a build or its tests read, and that git usually ignores. */
static const char *const copies[] = {
	".env", ".env.local", ".env.development", ".env.development.local", ".env.test",
	".env.test.local", ".envrc", ".dev.vars", ".npmrc", "config/*.key", "config/database.yml",
	"config/secrets.yml", "config/local.*", "local.properties", "local_settings.py",
	"terraform.tfvars", "google-services.json", "docker-compose.override.yml",
	".streamlit/secrets.toml",
};

static bool path_matches(const char *pattern, const char *path)
{
	return fnmatch(pattern, path, FNM_PATHNAME | FNM_PERIOD) == 0;
}

/* Nothing in a name may need an escape, neither in a terminal nor in TOML. */
static bool is_harmless(const char *path)
{
	size_t length = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/");

	return path[length] == '\0' && length > 0 && length < SIGN_PATH_MAX;
}

bool proposal_reads(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(clues); i++)
		if (is_harmless(path) && path_matches(clues[i].file, path))
			return true;
	return false;
}

/* The word of a table that a file of this path stands for, at most three: called until NULL. */
static const char *word_of(const char *path, size_t *i)
{
	for (; *i < ARRAY_SIZE(command_rows) + ARRAY_SIZE(copies); ++*i) {
		const struct command_row *row = *i < ARRAY_SIZE(command_rows) ? &command_rows[*i] : NULL;
		const char *words[] = { row != NULL ? row->sign : copies[*i - ARRAY_SIZE(command_rows)],
			row != NULL ? row->with : NULL };

		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			if (words[k] != NULL && path_matches(words[k], path)) {
				++*i;
				return words[k];
			}
	}
	return NULL;
}

bool proposal_wants(const char *path)
{
	size_t i = 0;

	return is_harmless(path) && (proposal_reads(path) || word_of(path, &i) != NULL);
}

static const struct sign *sign_find(const struct signs *signs, const char *what)
{
	for (size_t i = 0; i < signs->count; i++)
		if (strcmp(signs->list[i].what, what) == 0)
			return &signs->list[i];
	return NULL;
}

/* Each is kept once, with the file that came first. */
static void sign_add(struct signs *signs, const char *what, const char *path)
{
	struct sign *sign = &signs->list[signs->count];

	if (signs->count == SIGNS_MAX || sign_find(signs, what) != NULL)
		return;
	sign->what = what;
	snprintf(sign->where, sizeof(sign->where), "%s", path);
	signs->count++;
}

void proposal_add_file(struct signs *signs, const char *path)
{
	const char *word;
	size_t i = 0;

	while (is_harmless(path) && (word = word_of(path, &i)) != NULL)
		sign_add(signs, word, path);
}

void proposal_add_text(struct signs *signs, const char *path, const char *text, size_t size)
{
	if (!is_harmless(path) || memchr(text, '\0', size) != NULL)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(clues); i++)
		if (path_matches(clues[i].file, path) && clues[i].has(text, clues[i].word))
			sign_add(signs, clues[i].what, path);
}

static bool row_holds(const struct command_row *row, const struct signs *signs)
{
	return sign_find(signs, row->sign) != NULL && (row->with == NULL || sign_find(signs, row->with) != NULL) &&
	    (row->without == NULL || sign_find(signs, row->without) == NULL);
}

/* Add the rows of one key that hold. */
static size_t add_commands(enum proposal_key key, const struct signs *signs, struct proposal *out, size_t count)
{
	const char *kind = "";

	for (size_t i = 0; i < ARRAY_SIZE(command_rows) && count < PROPOSALS_MAX; i++) {
		const struct command_row *row = &command_rows[i];

		if (row->key != key || strcmp(row->kind, kind) == 0 || !row_holds(row, signs))
			continue;
		kind = row->kind;
		out[count++] = (struct proposal){ key, row->value, row->program, sign_find(signs, row->sign)->where };
		if (strcmp(kind, "all") == 0)
			break;
	}
	return count;
}

size_t proposal_make(const struct signs *signs, struct proposal *out)
{
	size_t count = add_commands(PROPOSAL_SETUP, signs, out, 0);

	for (size_t i = 0; i < ARRAY_SIZE(copies) && count < PROPOSALS_MAX; i++) {
		const struct sign *sign = sign_find(signs, copies[i]);

		if (sign != NULL)
			out[count++] = (struct proposal){ PROPOSAL_COPY, copies[i], NULL, sign->where };
	}
	return add_commands(PROPOSAL_CHECK, signs, out, count);
}
