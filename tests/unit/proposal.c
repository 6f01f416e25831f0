/* SPDX-License-Identifier: MIT */
/* rlctl init: what is proposed for the files found, which agents are chosen, and that rld accepts
 * the texts. */
#include "client/init/proposal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/init/choice.h"
#include "config/config.h"
#include "core.h"
#include "scratch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define VENV "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt"

/* found: "FILE" or "FILE=TEXT", separated by "|". wanted: "VALUE < FILE", likewise. */
static const struct {
	const char *found, *wanted;
} projects[] = {
	{ "", "" },
	{ "README|a.c|node_modules|yarn.lockx", "" },
	{ "package-lock.json", "npm ci < package-lock.json" },
	{ "npm-shrinkwrap.json", "npm ci < npm-shrinkwrap.json" },
	{ "package-lock.json|package.json={\"scripts\": {\"test\": \"jest\"}}",
	    "npm ci < package-lock.json|npm test < package.json" },
	{ "pnpm-lock.yaml|package-lock.json|package.json={\"scripts\": {\"test\": \"x\"}}",
	    "pnpm install --frozen-lockfile < pnpm-lock.yaml|pnpm test < package.json" },
	{ "yarn.lock|package.json={\"scripts\": {\"test\": \"x\"}}",
	    "yarn install --frozen-lockfile < yarn.lock|yarn test < package.json" },
	{ "yarn.lock|.yarnrc.yml", "yarn install --immutable < yarn.lock" },
	{ "bun.lock|package.json={\"scripts\": {\"test\": \"x\"}}",
	    "bun install --frozen-lockfile < bun.lock|bun run test < package.json" },
	{ "bun.lockb|package.json={\"scripts\": {\"test\": \"x\"}}",
	    "bun install --frozen-lockfile < bun.lockb|bun run test < package.json" },
	/* what npm init writes, odd scripts, no JSON at all */
	{ "package.json={\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}", "" },
	{ "package.json={\"scripts\": {\"test\": \" \"}}", "" },
	{ "package.json={\"scripts\": {\"test\": [\"x\"]}}", "" },
	{ "package.json={\"scripts\": \"test\"}", "" },
	{ "package.json=[1]", "" },
	{ "package.json={\"scripts\": {\"test\": \"x\"}", "" },
	{ "package.json={\"scripts\": {\"test\": \"\\u0000\"}}", "" },
	{ "uv.lock|pyproject.toml=[tool.pytest.ini_options]",
	    "uv sync --frozen < uv.lock|uv run pytest -q < pyproject.toml" },
	{ "poetry.lock|pyproject.toml=pytest = \"^8\"",
	    "poetry install --no-interaction < poetry.lock|poetry run pytest -q < pyproject.toml" },
	{ "pdm.lock|setup.cfg=[tool:pytest]", "pdm sync < pdm.lock|pdm run pytest -q < setup.cfg" },
	{ "Pipfile.lock|Pipfile=pytest = \"*\"", "pipenv sync --dev < Pipfile.lock|pipenv run pytest -q < Pipfile" },
	{ "requirements.txt=flask",
	    VENV " < requirements.txt" },
	{ "requirements.txt=pytest",
	    VENV " < requirements.txt|"
	    ".venv/bin/python -m pytest -q < requirements.txt" },
	{ "requirements.txt=flask|tests/test_a.py=import pytest",
	    VENV " pytest < requirements.txt|"
	    ".venv/bin/python -m pytest -q < tests/test_a.py" },
	{ "requirements.txt=flask|requirements-dev.txt=pytest",
	    VENV " -r requirements-dev.txt < requirements.txt|"
	    ".venv/bin/python -m pytest -q < requirements-dev.txt" },
	{ "pytest.ini", "python3 -m pytest -q < pytest.ini" },
	{ "test_a.py=import pytest", "python3 -m pytest -q < test_a.py" },
	{ "test/test_a.py=import pytest", "python3 -m pytest -q < test/test_a.py" },
	{ "tox.ini=deps = pytest", "python3 -m pytest -q < tox.ini" },
	{ "test_a.py=import unittest", "python3 -m unittest discover < test_a.py" },
	{ "test_a.py=import unittest|requirements.txt=six",
	    VENV " < requirements.txt|"
	    ".venv/bin/python -m unittest discover < test_a.py" },
	{ "tests/test_a.py=import unittest", "python3 -m unittest discover -s tests -t . < tests/test_a.py" },
	{ "tests/test_a.py=import unittest|requirements.txt=six",
	    VENV " < requirements.txt|"
	    ".venv/bin/python -m unittest discover -s tests -t . < tests/test_a.py" },
	{ "test/test_a.py=import unittest", "python3 -m unittest discover -s test -t . < test/test_a.py" },
	{ "test/test_a.py=import unittest|requirements.txt=six",
	    VENV " < requirements.txt|"
	    ".venv/bin/python -m unittest discover -s test -t . < test/test_a.py" },
	{ "Cargo.toml|Cargo.lock", "cargo fetch --locked < Cargo.lock|cargo test < Cargo.toml" },
	{ "go.mod|go.sum", "go mod download < go.sum|go test ./... < go.mod" },
	{ "Gemfile.lock|.rspec", "bundle install < Gemfile.lock|bundle exec rspec < .rspec" },
	{ "composer.lock|phpunit.xml.dist",
	    "composer install --no-interaction < composer.lock|vendor/bin/phpunit < phpunit.xml.dist" },
	{ "phpunit.xml", "vendor/bin/phpunit < phpunit.xml" },
	{ "mix.lock|mix.exs", "mix deps.get < mix.lock|mix test < mix.exs" },
	{ "pubspec.lock", "dart pub get --enforce-lockfile < pubspec.lock" },
	{ "Package.resolved|Package.swift", "swift package resolve < Package.resolved|swift test < Package.swift" },
	{ "gradlew|pom.xml", "./gradlew test < gradlew" },
	{ "pom.xml|mvnw", "./mvnw -q test < mvnw" },
	{ "pom.xml", "mvn -q test < pom.xml" },
	{ "justfile=test:\n\techo", "just test < justfile" },
	/* a makefile speaks for the whole project; both kinds of targets, and what is none */
	{ "Makefile=all: x\ncheck: all\ntest:\n|go.mod", "make check < Makefile" },
	{ "Makefile=test:", "make test < Makefile" },
	{ "makefile=test ::", "make test < makefile" },
	{ "makefile=check:", "make check < makefile" },
	{ "GNUmakefile=test:", "make test < GNUmakefile" },
	{ "GNUmakefile=check:", "make check < GNUmakefile" },
	{ "Makefile=test := 1\ntest::= 2\ntests:\n\ttest: x\nx: test\n|go.mod", "go test ./... < go.mod" },
	/* two languages */
	{ "Cargo.toml|package.json={\"scripts\": {\"test\": \"x\"}}",
	    "npm test < package.json|cargo test < Cargo.toml" },
	/* files to copy come between; a pattern stands for all of its files */
	{ ".env|.env.local|config/master.key|config/a.key|.env.example|config/deep/b.key|Cargo.lock",
	    "cargo fetch --locked < Cargo.lock|.env < .env|.env.local < .env.local|config/*.key < config/master.key" },
	{ ".env.development|.env.development.local|.env.test|.env.test.local|.envrc|.dev.vars|.npmrc",
	    ".env.development < .env.development|.env.development.local < .env.development.local|"
	    ".env.test < .env.test|.env.test.local < .env.test.local|.envrc < .envrc|.dev.vars < .dev.vars|"
	    ".npmrc < .npmrc" },
	{ "config/database.yml|config/secrets.yml|config/local.toml|local.properties|local_settings.py",
	    "config/database.yml < config/database.yml|config/secrets.yml < config/secrets.yml|"
	    "config/local.* < config/local.toml|local.properties < local.properties|"
	    "local_settings.py < local_settings.py" },
	{ "terraform.tfvars|google-services.json|docker-compose.override.yml|.streamlit/secrets.toml",
	    "terraform.tfvars < terraform.tfvars|google-services.json < google-services.json|"
	    "docker-compose.override.yml < docker-compose.override.yml|"
	    ".streamlit/secrets.toml < .streamlit/secrets.toml" },
	/* names of attackers */
	{ "config/a\nb.key|config/$(x).key|config/\x1b[2J.key|tests/test_'.py=import pytest", "" },
};

static size_t proposals_of(const char *found, struct signs *signs, struct proposal *out)
{
	char *copy = strdup(found), *rest = copy, *one;

	signs->count = 0;
	while ((one = strsep(&rest, "|")) != NULL) {
		char *text = strchr(one, '=');

		if (text != NULL)
			*text++ = '\0';
		if (!proposal_wants(one))
			continue;
		proposal_add_file(signs, one);
		ck_assert(text == NULL || proposal_reads(one));
		if (text != NULL)
			proposal_add_text(signs, one, text, strlen(text));
	}
	free(copy);
	return proposal_make(signs, out);
}

static void load(const char *text, const char *name)
{
	struct config_error error = { 0 };
	struct config *config = NULL;
	struct project_text project_text = { .workdir = strdup("/w"), .text = strdup(text), .size = strlen(text) };
	struct project *project = NULL;
	char path[256];
	FILE *file;

	if (strcmp(name, ".rld.toml") == 0) {
		if (project_parse(&project, &project_text, &error) == -1)
			ck_abort_msg("%s\n%s", error.text, text);
		project_free(project);
	} else {
		scratch_make(path, sizeof(path) - 16, "init");
		strlcat(path, "/rld.toml", sizeof(path));
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		ck_assert_int_ge(fputs(text, file), 0);
		ck_assert_int_eq(fclose(file), 0);
		if (config_load(&config, path, true, &error) == -1)
			ck_abort_msg("%s\n%s", error.text, text);
		config_free(config);
		unlink(path);
		*strrchr(path, '/') = '\0';
		rmdir(path);
	}
	project_text_release(&project_text);
}

START_TEST(proposals)
{
	for (size_t i = 0; i < COUNT(projects); i++) {
		struct proposal out[PROPOSALS_MAX];
		struct buf said = { 0 }, text = { 0 };
		struct signs signs;
		size_t count = proposals_of(projects[i].found, &signs, out);
		bool missing[PROPOSALS_MAX] = { false };

		for (size_t k = 0; k < count; k++)
			buf_addf(&said, "%s%s < %s", k > 0 ? "|" : "", out[k].value, out[k].where);
		ck_assert_str_eq(said.data == NULL ? "" : said.data, projects[i].wanted);
		choice_project(&text, out, missing, count);
		load(text.data, ".rld.toml");
		for (size_t k = 0; k < count; k++)
			missing[k] = out[k].program != NULL && k % 2 == 0;
		text.size = 0;
		choice_project(&text, out, missing, count);
		load(text.data, ".rld.toml");
		buf_release(&said);
		buf_release(&text);
	}
}
END_TEST

START_TEST(many_signs)
{
	struct proposal out[PROPOSALS_MAX];
	struct signs signs = { .count = 0 };

	for (size_t i = 0; i < COUNT(projects); i++) {
		struct signs one;

		proposals_of(projects[i].found, &one, out);
		for (size_t k = 0; k < one.count; k++)
			proposal_add_file(&signs, one.list[k].where);
	}
	ck_assert_uint_le(signs.count, SIGNS_MAX);
	ck_assert_uint_le(proposal_make(&signs, out), PROPOSALS_MAX);
}
END_TEST

/* Candidates as "NAME" and their marks: f is found, a answers, l is logged in. */
static const struct {
	const char *candidates, *agent, *reviewer, *wanted, *message;
} choices[] = {
	{ "", NULL, NULL, NULL, "no agent program is on your PATH, so nothing was written" },
	{ "claude: codex:", NULL, NULL, NULL, "no agent program is on your PATH, so nothing was written" },
	{ "claude:fal codex:", NULL, NULL, "claude claude", NULL },
	{ "claude:fal codex:fal gemini:fal", NULL, NULL, "claude codex", NULL },
	{ "claude:fa codex:fal", NULL, NULL, "codex claude", NULL },
	{ "claude:fal codex:f gemini:", NULL, NULL, "claude claude", NULL },
	{ "claude:f", NULL, NULL, "claude claude", NULL },
	{ "claude:f codex:f", NULL, NULL, "claude claude", NULL },
	{ "claude:fal codex:fal", "codex", NULL, "codex claude", NULL },
	{ "claude:fal codex:fal", NULL, "claude", "codex claude", NULL },
	{ "claude:fal", NULL, "claude", "claude claude", NULL },
	{ "claude:fal codex:fal", "claude", "claude", "claude claude", NULL },
	{ "claude:fal mine:f", "mine", NULL, "mine claude", NULL },
	{ "claude:fal mine:f", "mine", "mine", "mine mine", NULL },
	{ "claude:fal codex:", "codex", NULL, NULL,
	    "the program of agent codex is not on your PATH, or not executable" },
	{ "claude:fal", "nix", NULL, NULL, "unknown agent nix" },
	{ "claude:fal", NULL, "nix", NULL, "unknown agent nix" },
	{ "claude:fal", "nix", "nox", NULL, "unknown agent nix" },
};

START_TEST(choosing)
{
	for (size_t i = 0; i < COUNT(choices); i++) {
		char *copy = strdup(choices[i].candidates), *rest = copy, *one, *message, *hint, said[64];
		struct candidate list[4];
		struct choice choice;
		struct buf text = { 0 };
		size_t count = 0;

		while ((one = strsep(&rest, " ")) != NULL && *one != '\0') {
			char *marks = strchr(one, ':');

			*marks++ = '\0';
			list[count++] = (struct candidate){ one, strcmp(one, "mine") == 0 ? "/a \"b\\\n/m" : NULL,
				strchr(marks, 'f') != NULL, strchr(marks, 'a') != NULL, strchr(marks, 'l') != NULL };
		}
		if (!choice_make(list, count, choices[i].agent, choices[i].reviewer, &choice, &message, &hint)) {
			ck_assert_ptr_null(choices[i].wanted);
			ck_assert_str_eq(message, choices[i].message);
			ck_assert_ptr_nonnull(hint);
		} else {
			ck_assert_ptr_nonnull(choices[i].wanted);
			ck_assert_ptr_null(message);
			ck_assert_ptr_null(hint);
			snprintf(said, sizeof(said), "%s %s", choice.agent->name, choice.reviewer->name);
			ck_assert_str_eq(said, choices[i].wanted);
			choice_settings(&text, &choice);
			load(text.data, "rld.toml");
			buf_release(&text);
		}
		free(message);
		free(hint);
		free(copy);
	}
}
END_TEST

START_TEST(quoting)
{
	struct buf out = { 0 };

	choice_quote(&out, "a\"b\\c\n\x1b\x7f é");
	ck_assert_str_eq(out.data, "\"a\\\"b\\\\c\\u000A\\u001B\\u007F é\"");
	buf_release(&out);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { proposals, many_signs, choosing, quoting };

	return RUN_SUITE("proposal", tests);
}
