/* SPDX-License-Identifier: MIT */
/* Secrets are masked wherever they stand; what only looks random, or only speaks of
 * secrets, stays as it is. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/redact.h"
#include "base/secret_patterns.h"
#include "proto/memory.h"

/* Keys are written in two halves, so that no scanner of repositories takes this file for a leak. */
#define ANT "sk-ant-" "api03-Abc123_def456-GHI789jkl"
#define PROJ "sk-proj-" "Ab12Cd34Ef56Gh78_Ij90-KlMn"
#define GHP "ghp_" "abcdefghijklmnopqrstuvwxyz0123456789"
#define HASH "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
#define LONG64 "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
#define JWT "eyJ" "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
#define PEM_BODY "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"

static const struct {
	const char *text, *masked;	/* masked NULL: it stays */
} patterns[] = {
	/* known services */
	{ "key " ANT " here", "key sk-ant-[secret] here" },
	{ PROJ, "sk-proj-[secret]" },
	{ "sk-" "abcdefghijklmnopqrst1234", "sk-[secret]" },
	{ "sk-or-v1-" LONG64, "sk-or-v1-[secret]" },
	{ "(" GHP ")", "(ghp_[secret])" },
	{ "gho_" "abcdefghijklmnopqrstuvwxyz0123456789", "gho_[secret]" },
	{ "ghs_" "abcdefghijklmnopqrstuvwxyz0123456789", "ghs_[secret]" },
	{ "ghu_" "abcdefghijklmnopqrstuvwxyz0123456789", "ghu_[secret]" },
	{ "github_pat_" "11ABCDEFG0abcdefghij_klmnopqrstuv", "github_pat_[secret]" },
	{ "glpat-" "AbCdEf123456_ghijKLM", "glpat-[secret]" },
	{ "AKIA" "IOSFODNN7EXAMPLE.", "AKIA[secret]." },
	{ "id=ASIA" "IOSFODNN7EXAMPLE", "id=ASIA[secret]" },
	{ "AIza" "SyA1234567890abcdefghijklmnopqrstuv", "AIza[secret]" },
	{ "xoxb-" "123456789012-abcdefGHIJKL", "xoxb-[secret]" },
	{ "xoxp-" "123456789012-abcdef", "xoxp-[secret]" },
	{ "xoxa-" "2-123456789012", NULL },
	{ "xoxr-" "12345-abcdefgh", "xoxr-[secret]" },
	{ "npm_" "abcdefghijklmnopqrstuvwxyz0123456789", "npm_[secret]" },
	{ "pypi-AgEI" "cHlwaS5vcmcCJGIzOTk", "pypi-AgEI[secret]" },
	{ "hf_" "abcdefghijklmnopqrstuvwxyzABCDEFGH", "hf_[secret]" },
	{ "gsk_" "abcdefghijklmnopqrstuvwxyz0123456789", "gsk_[secret]" },
	{ "sk_live_" "abcdefghij0123456789", "sk_live_[secret]" },
	{ "ya29." "a0AfH6SMBx1234567890abc", "ya29.[secret]" },
	{ JWT, "eyJ[secret]" },
	{ "\"" ANT "\",\"" GHP "\"", "\"sk-ant-[secret]\",\"ghp_[secret]\"" },
	/* cut short, they are as good */
	{ "sk-ant-" "api03-Abc123\xe2\x80\xa6", "sk-ant-[secret]\xe2\x80\xa6" },
	/* headers */
	{ "Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [secret]" },
	{ "authorization: Basic dXNlcjpwYXNzd29yZDE=", "authorization: Basic [secret]" },
	{ "curl -H 'Authorization: token 0123456789abcdef0123'", "curl -H 'Authorization: token [secret]'" },
	{ "sent bearer 0123456789abcdefXYZ, refused", "sent bearer [secret], refused" },
	{ "x-api-key: 0123456789abcdefXYZ", "x-api-key: [secret]" },
	{ "X-Goog-Api-Key: abcdef1234567890", "X-Goog-Api-Key: [secret]" },
	{ "Private-Token: abc123def456ghi7", "Private-Token: [secret]" },
	/* URLs */
	{ "https://me:hunter2@example.org/x.git", "https://me:[secret]@example.org/x.git" },
	{ "fatal: unable to access 'https://u:p@ss@h/'", "fatal: unable to access 'https://u:[secret]@h/'" },
	{ "https://:abc@h", "https://:[secret]@h" },
	{ "https://" HASH "@git.example.org/x", "https://[secret]@git.example.org/x" },
	{ "postgres://app:s3cr3t@db:5432/app and redis://:pw@cache",
	    "postgres://app:[secret]@db:5432/app and redis://:[secret]@cache" },
	/* assignments */
	{ "OPENAI_API_KEY=plainwords", "OPENAI_API_KEY=[secret]" },
	{ "export DB_PASSWORD='correct horse'", "export DB_PASSWORD='[secret]'" },
	{ "MY_TOKEN=abcdef MY_SECRET=\"ghijkl\" x", "MY_TOKEN=[secret] MY_SECRET=\"[secret]\" x" },
	{ "KEY=abcdefgh\nnext", "KEY=[secret]\nnext" },
	{ "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=[secret]" },
	{ "{\"password\": \"hunter22\"}", "{\"password\": \"[secret]\"}" },
	{ "{\\\"apiKey\\\":\\\"abcdef123\\\"}", "{\\\"apiKey\\\":\\\"[secret]\\\"}" },
	{ "\"access_token\":\"abcdef\"", "\"access_token\":\"[secret]\"" },
	{ "password: hunter22x", "password: [secret]" },
	{ "password: \"correct horse 9battery\"", "password: \"[secret]\"" },
	{ "Authorization: token abcdefghijklmnop", "Authorization: token [secret]" },
	{ "Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [secret]" },
	{ "clientSecret = 'abcdef123'", "clientSecret = '[secret]'" },
	{ "token: 0123456789abcdef", "token: [secret]" },
	{ "--password=abcdef12 --x", "--password=[secret] --x" },
	{ "dbPasswd => 'abcdef1'", "dbPasswd => '[secret]'" },
	{ "DB_PASS=abcdef", "DB_PASS=[secret]" },
	{ "TOKEN=" ANT, "TOKEN=[secret]" },
	/* key files */
	{ "a\n-----BEGIN PRIVATE KEY-----\n" PEM_BODY "-----END PRIVATE KEY-----\nb",
	    "a\n-----BEGIN PRIVATE KEY-----[secret]-----END PRIVATE KEY-----\nb" },
	{ "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAA\\nAAAAAAAAAAAAAAAAAAAA\\n",
	    "-----BEGIN OPENSSH PRIVATE KEY-----[secret]\\n" },
	{ "-----BEGIN RSA PRIVATE KEY-----\n" PEM_BODY "and so on",
	    "-----BEGIN RSA PRIVATE KEY-----[secret]\nand so on" },

	/* nothing of these is one */
	{ "", NULL },
	{ HASH, NULL },
	{ LONG64, NULL },
	{ "commit " HASH " tree " HASH " in refs/rl/passed/42/t1", NULL },
	{ "123e4567-e89b-12d3-a456-426614174000", NULL },
	{ "session ses_0123456789abcdefABCDEF, thread 0199a213-81c0-7800-8aa1-bbab2a035a53", NULL },
	{ "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", NULL },
	{ "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", NULL },
	{ "sha256:" LONG64, NULL },
	{ "integrity sha512-abcdEFGH1234567890+/abcdEFGH1234567890==", NULL },
	{ "a_very_long_identifier_with_1234_numbers_in_it_and_more_words", NULL },
	{ "AVeryLongClassNameForFactoriesOfFactories2", NULL },
	{ "task-sk-learn-pipeline-with-many-words-in-it", NULL },
	{ "sk-learn-pipeline-with-many-words-in-it-2", NULL },
	{ "desk-0123456789abcdefghij0123", NULL },
	{ "AKIA is how a key begins; AKIAIOSFODNN7EXAMPLES has one more", NULL },
	{ "eyJub3QiOiJhIHdlYiB0b2tlbiJ9 alone", NULL },
	{ "npm_config_registry and npm_lifecycle_event", NULL },
	{ "ghp_ is the prefix", NULL },
	{ "the bearer of this letter, bearer authentication-is-missing", NULL },
	{ "Bearer realm=\"x\"", NULL },
	{ "https://example.org/a:b@c and https://example.org:8080/", NULL },
	{ "git@github.com:me/x.git, mailto:me@example.org", NULL },
	{ "https://user@example.org/", NULL },
	{ "ssh://git@example.org:22/x", NULL },
	{ "Unexpected token: identifier", NULL },
	{ "token: unexpected", NULL },
	{ "password: is wrong", NULL },
	{ "the password must have 8 characters", NULL },
	{ "password = get_password2()", NULL },
	{ "token = parser.next_token", NULL },
	{ "api_key = os.environ[\"API_KEY\"]", NULL },
	{ "API_KEY=$API_KEY; TOKEN=${TOKEN} SECRET=<secret> KEY=... PASSWORD=", NULL },
	{ "if (key == other_key_2 && token == 0123456789abcdef)", NULL },
	{ "key: \"feature_flag_section_2\"", NULL },
	{ "{\"key\": \"user-profile-1\", \"token\": \"identifier\"}", NULL },
	{ "Auth::Token::generate12345678", NULL },
	{ "MAX_TOKENS=200000 max_tokens: 1234567890123456", NULL },
	{ "AUTHOR=somebody-with-a-name KEYBOARD=german-layout MONKEY=bananas1", NULL },
	{ "SSH_AUTH_SOCK=/tmp/ssh-XXXXabc123/agent.1", NULL },
	{ "PASS=12 FAIL=3", NULL },
	{ "AUTH_URL=https://login.example.org/", NULL },
	{ "password: /run/secrets/db1", NULL },
	{ "SSH_KEY=~/.ssh/id_rsa", NULL },
	{ "{\"password\": \"must be at least 8 characters\"}", NULL },
	{ "secrets: \"prod-db-1 and prod-db-2 are missing\"", NULL },
	{ "auth: Basic authentication is used, authorization: Bearer required", NULL },
	{ "SECRET=none TOKEN=missing", NULL },
	{ "the file has -----BEGIN PRIVATE KEY----- in line 3", NULL },
	{ "-----BEGIN CERTIFICATE-----\n" PEM_BODY "-----END CERTIFICATE-----", NULL },
	{ "run: make test && echo ok > /dev/null; x=1 y=2", NULL },
	{ "expected `}` at src/main.c:12:5, found `;`", NULL },
};

START_TEST(patterns_table)
{
	const char *text = patterns[_i].text;
	/* in a block of its own size, so that a sanitizer sees who reads behind it */
	size_t length = strlen(text), size = 0;
	char *exact = malloc(length > 0 ? length : 1), *masked, *again;

	memcpy(exact, text, length);
	masked = redact_text(NULL, exact, length, &size);
	if (patterns[_i].masked == NULL) {
		ck_assert_msg(masked == NULL, "%s became %s", text, masked);
	} else {
		ck_assert_ptr_nonnull(masked);
		ck_assert_str_eq(masked, patterns[_i].masked);
		ck_assert_uint_eq(size, strlen(masked));
		again = redact_text(NULL, masked, size, NULL);
		ck_assert_msg(again == NULL, "%s became %s, then %s", text, masked, again);
	}
	free(masked);
	free(exact);
}
END_TEST

static const struct {
	const char *name;
	bool secret;
} names[] = {
	{ "ANTHROPIC_API_KEY", true }, { "OPENAI_API_KEY", true },
	{ "CLAUDE_CODE_OAUTH_TOKEN", true }, { "GH_TOKEN", true }, { "dbPassword", true },
	{ "x-auth-token", true }, { "AUTH", true }, { "MYTOKEN", true }, { "MYAPIKEY", true },
	{ "PGPASSWORD", true }, { "DB_PASSWD", true },
	{ "AWS_SECRET_ACCESS_KEY", true }, { "CREDENTIALS", true }, { "DB_PASS", true },
	{ "SMTP_PWD", true }, { "Authorization", true },
	{ "COPILOT_PROVIDER_BEARER_TOKEN", true }, { "KEY", true }, { "api.key", true }, { "SECRET_2", true },
	{ "", false }, { "PATH", false }, { "HOME", false }, { "PWD", false }, { "OLDPWD", false },
	{ "PASS", false }, { "MAX_TOKENS", false },
	{ "SSH_AUTH_SOCK", false }, { "AUTHOR", false }, { "GIT_AUTHOR_NAME", false },
	{ "MONKEY", false }, { "KEYBOARD", false }, { "TOKEN_FILE", false },
	{ "AUTH_URL", false }, { "KEY_ID", false }, { "SECRETARY", false }, { "PASSAGE", false },
	{ "___", false }, { "tokenizer", false },
};

START_TEST(names_table)
{
	ck_assert(redact_hides("SOMETHING", "abcd-1234-ef56-gh78") &&
	    !redact_hides("BRANCH", "feature-1234-login-page") &&
	    !redact_hides("TAG", "release-2026-11-22-rc1"));
	ck_assert(redact_hides("SOMETHING", "ab12cd34ef56gh78") &&
	    !redact_hides("SOMETHING", "production") && !redact_hides("A_KEY", "/home/me/key"));
	ck_assert_msg(redact_hides(names[_i].name, NULL) == names[_i].secret, "%s", names[_i].name);
}
END_TEST

/* entry of an environment, a text, and what becomes of it */
static const struct {
	const char *entry, *text, *masked;
} variables[] = {
	{ "API_KEY=correct-horse", "it said correct-horse!", "it said [secret]!" },
	{ "API_KEY=correct-horse", "correct-horsecorrect-horse", "[secret]" },
	{ "API_KEY=correct-horse", "xcorrect-horsey", "x[secret]y" },
	{ "API_KEY=correct-horse", "correct horse", NULL },
	{ "API_KEY=seven77", "seven77", NULL },				/* too short */
	{ "API_KEY=", "x", NULL },
	{ "API_KEY", "API_KEY", NULL },
	/* a word that speaks of none */
	{ "API_KEY=disabled", "it is disabled", NULL },
	{ "API_KEY=  padded-value\n", "a padded-value b", "a [secret] b" },
	/* cut at an end */
	{ "API_KEY=correct-horse-battery", "and correct-horse-ba", "and [secret]" },
	{ "API_KEY=correct-horse-battery", "and correct-horse-ba\xe2\x80\xa6", "and [secret]\xe2\x80\xa6" },
	{ "API_KEY=correct-horse-battery", "and correct-horse-ba...", "and [secret]..." },
	{ "API_KEY=correct-horse-battery", "and correct", NULL },
	{ "API_KEY=correct-horse-battery", "horse-battery staple", "[secret] staple" },
	{ "API_KEY=correct-horse-battery", "\xe2\x80\xa6horse-battery staple", "\xe2\x80\xa6[secret] staple" },
	{ "API_KEY=correct-horse-battery", "\xe2\x80\xa6horse-battery", "\xe2\x80\xa6[secret]" },
	{ "API_KEY=correct-horse-battery", "correct-horse-battery", "[secret]" },
	/* in other forms */
	{ "API_KEY=say \"friend\" now", "{\"x\":\"say \\\"friend\\\" now\"}", "{\"x\":\"[secret]\"}" },
	{ "API_KEY=first line of it all\nsecond line of it all", "got second line of it all", "got [secret]" },
	{ "API_KEY=first line of it all\nsecond line of it all",
	    "first line of it all\\nsecond line of it all", "[secret]" },
	/* a name that says nothing, a value that does */
	{ "SOMETHING=ab12cd34ef56gh78", "ab12cd34ef56gh78", "[secret]" },
	{ "SOMETHING=production", "in production", NULL },
	{ "SOMETHING=/usr/lib/node18/certs", "/usr/lib/node18/certs", NULL },
	{ "ANTHROPIC_MODEL=claude-sonnet-4-20250514", "claude-sonnet-4-20250514", NULL },
	{ "OPENAI_BASE_URL=http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1", NULL },
	{ "USER=somebody-number-12", "somebody-number-12", NULL },
	/* the file of credentials may be told, its word not */
	{ "GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json", "/home/me/key.json is not there", NULL },
	{ "AWS_SECRET_ACCESS_KEY=/abc+def/ghi", "got /abc+def/ghi", "got [secret]" },
	{ "AWS_SECRET_ACCESS_KEY=/Jalr9UtnFEMI7K7MDENG/bPxRfiCYEXA0PLEKEY1",
	    "got /Jalr9UtnFEMI7K7MDENG/bPxRfiCYEXA0PLEKEY1", "got [secret]" },
	/* a proxy's password, alone */
	{ "HTTPS_PROXY=http://me:hunter2hunter2@proxy:3128", "hunter2hunter2 is no password",
	    "[secret] is no password" },
	{ "HTTPS_PROXY=http://proxy:3128", "http://proxy:3128", NULL },
};

START_TEST(variables_table)
{
	struct redactor *redactor = redact_new();
	const char *text = variables[_i].text;
	size_t length = strlen(text);
	char *exact = malloc(length), *masked;

	memcpy(exact, text, length);
	redact_add_variable(redactor, variables[_i].entry);
	masked = redact_text(redactor, exact, length, NULL);
	if (variables[_i].masked == NULL)
		ck_assert_msg(masked == NULL, "%s became %s", text, masked);
	else
		ck_assert_str_eq(masked != NULL ? masked : "(unchanged)", variables[_i].masked);
	free(masked);
	free(exact);
	redact_free(redactor);
}
END_TEST

/* The longest of those that begin alike; each of many. */
START_TEST(many_values)
{
	struct redactor *redactor = redact_new();
	char *text, *masked;

	redact_add(redactor, "prefix-0");
	redact_add(redactor, "prefix-0-and-more");
	redact_add(redactor, "prefix-0-and-more");
	for (int i = 0; i < 3000; i++) {
		text = xasprintf("value number %d", i);
		redact_add(redactor, text);
		free(text);
	}
	masked = redact_text(redactor, "a prefix-0-and-more b prefix-0 c value number 17 d",
	    strlen("a prefix-0-and-more b prefix-0 c value number 17 d"), NULL);
	ck_assert_str_eq(masked, "a [secret] b [secret] c [secret] d");
	free(masked);
	redact_free(redactor);
}
END_TEST

START_TEST(strings)
{
	char *none = NULL, *plain = xstrdup("plain"), *key = xstrdup("key " GHP);

	ck_assert(!redact_string(NULL, &none) && none == NULL);
	ck_assert(!redact_string(NULL, &plain));
	ck_assert_str_eq(plain, "plain");
	ck_assert(redact_string(NULL, &key));
	ck_assert_str_eq(key, "key ghp_[secret]");
	free(plain);
	free(key);
	redact_free(NULL);
}
END_TEST

/* Bytes of any kind, NUL too, are no end. */
START_TEST(bytes)
{
	static const char text[] = "\0\xff" "API_KEY=abcdefgh\0" GHP;
	size_t size;
	char *masked = redact_text(NULL, text, sizeof(text) - 1, &size);

	ck_assert_ptr_nonnull(masked);
	ck_assert_ptr_null(memmem(masked, size, "abcdefgh", 8));
	ck_assert_ptr_nonnull(memmem(masked, size, "ghp_[secret]", 12));
	free(masked);
}
END_TEST

/* What looks like a beginning over and over: the limit of the test is the measure, and a quadratic
 * walk would take minutes. */
START_TEST(linear)
{
	static const char *const bad[] = {
		"-----BEGIN PRIVATE KEY-----", "key=\"", "://", "password: ", "a.", "eyJaaaaaaaa.",
		"Bearer ", "AKIA", "sk-", "://a:", "token", "token=", "prefix-0", "eyJaaaaaaaa-", "eyJ-",
	"a:token=", "x-", "api_key:\\\"", "bearer a-",
	};
	const char *word = bad[_i];
	struct redactor *redactor = redact_new();
	size_t n = strlen(word), size = 1024 * 1024 / n * n;
	char *text = malloc(size), *masked;

	redact_add(redactor, "prefix-0-but-this-is-longer");
	for (size_t i = 0; i < size; i += n)
		memcpy(text + i, word, n);
	masked = redact_text(redactor, text, size, NULL);
	free(masked);
	free(text);
	redact_free(redactor);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("redact");
	TCase *tc = tcase_create("redact");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, patterns_table, 0, COUNT(patterns));
	tcase_add_loop_test(tc, names_table, 0, COUNT(names));
	tcase_add_loop_test(tc, variables_table, 0, COUNT(variables));
	tcase_add_test(tc, many_values);
	tcase_add_test(tc, strings);
	tcase_add_test(tc, bytes);
	tcase_add_loop_test(tc, linear, 0, 19);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
