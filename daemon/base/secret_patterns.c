/* SPDX-License-Identifier: MIT */
#include "base/secret_patterns.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "proto/memory.h"

/* Length of a word that is examined. If it is a secret, its end is searched beyond that. */
#define JUDGED_MAX 128

/* ---- bytes ---- */

enum { LETTER = 1, DIGIT = 2, UPPER = 4, UNDER = 8, DASH = 16, DOT = 32, BASE64 = 64 };

static unsigned class_of(char c)
{
	if (c >= 'a' && c <= 'z')
		return LETTER;
	if (c >= 'A' && c <= 'Z')
		return LETTER | UPPER;
	if (c >= '0' && c <= '9')
		return DIGIT;
	return c == '_' ? UNDER : c == '-' ? DASH : c == '.' ? DOT : c == '+' || c == '/' || c == '=' ? BASE64 : 0;
}

#define ALNUM (LETTER | DIGIT)
#define NAME (ALNUM | UNDER | DASH | DOT)
#define VALUE (NAME | BASE64)

static size_t run_of(const char *text, size_t size, size_t at, unsigned classes)
{
	size_t end = at;

	while (end < size && (class_of(text[end]) & classes) != 0)
		end++;
	return end;
}

static unsigned classes_in(const char *text, size_t size)
{
	unsigned classes = 0;

	for (size_t i = 0; i < size; i++)
		classes |= class_of(text[i]);
	return classes;
}

static bool secret_begins(const struct secret_scan *s, size_t at, const char *word)
{
	size_t n = strlen(word);

	return s->size - at >= n && memcmp(s->text + at, word, n) == 0;
}

/* End of the run of letters, digits, "_" and "-" at `at`. Each caller asks with its own `place`,
 * which remembers the last answer, so that no run is walked twice. */
static size_t word_end(struct secret_scan *s, size_t at, int place)
{
	struct secret_match *word = &s->words[place];

	if (at < word->from || at >= word->to)
		*word = (struct secret_match){ at, run_of(s->text, s->size, at, ALNUM | UNDER | DASH) };
	return word->to;
}

/* Whether a word may begin here. */
static bool is_free(const struct secret_scan *s, size_t at)
{
	return at == 0 || (class_of(s->text[at - 1]) & (ALNUM | UNDER)) == 0;
}

/* ---- names ---- */

struct part {
	const char *text;
	size_t size;
};

#define PARTS_MAX 16

/* "db_apiKey" is db, api, Key. The last PARTS_MAX of them. */
static size_t secret_split_name(const char *name, size_t size, struct part parts[PARTS_MAX])
{
	size_t count = 0, start = 0;

	for (size_t i = 0; i <= size; i++) {
		bool mark = i == size || (class_of(name[i]) & ALNUM) == 0;
		bool hump = !mark && i > start && (class_of(name[i]) & UPPER) != 0 &&
		    (class_of(name[i - 1]) & UPPER) == 0;

		if (!mark && !hump)
			continue;
		if (i > start) {
			if (count == PARTS_MAX)
				memmove(parts, parts + 1, --count * sizeof(parts[0]));
			parts[count++] = (struct part){ name + start, i - start };
		}
		start = hump ? i : i + 1;
	}
	return count;
}

static bool is_word(const struct part *part, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == part->size && strncasecmp(words[i], part->text, part->size) == 0)
			return true;
	return false;
}

static bool ends_with_word(const struct part *part, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(words[i]);

		if (part->size > n && strncasecmp(part->text + part->size - n, words[i], n) == 0)
			return true;
	}
	return false;
}

#define IS(part, words) is_word(part, words, ARRAY_SIZE(words))

static const char *const whole_words[] = {
	"key", "keys", "token", "secret", "secrets", "password", "passwords", "passwd",
	"passphrase", "credential", "credentials", "auth", "authorization", "apikey", "bearer",
};
static const char *const endings[] = {
	"token", "secret", "password", "passwd", "passphrase", "apikey", "accesskey", "secretkey",
	"privatekey", "authkey",
};
static const char *const last_words[] = { "pass", "pwd" };
/* After a word for a secret: words that describe it, so the value is not the secret itself. */
static const char *const about[] = {
	"sock", "file", "files", "path", "dir", "helper", "type", "method", "mode", "timeout",
	"ttl", "count", "limit", "size", "length", "len", "index", "bits", "algorithm", "alg",
	"url", "uri", "host", "port", "name", "id", "ids", "version", "format", "prefix", "expiry",
	"expires", "budget", "usage", "window", "error", "errors", "required", "enabled", "disabled",
};
/* Passwords are secret by themselves; a key or token only with such a word before it. */
static const char *const plain_words[] = { "password", "passwords", "passwd", "passphrase",
	"secret", "secrets", "apikey", "authorization" };
static const char *const key_words[] = {
	"api", "access", "secret", "private", "auth", "license", "signing", "encryption", "service",
	"client", "master", "account", "admin",
};

/* BARE: "key", which is usually that of a map. */
enum strength { NO_SECRET, BARE, WEAK, STRONG };

static enum strength name_strength(const char *name, size_t size)
{
	struct part parts[PARTS_MAX], *last;
	size_t count = secret_split_name(name, size, parts);
	bool found = false;

	if (count == 0)
		return NO_SECRET;
	last = &parts[count - 1];
	for (size_t i = 0; i < count && !found; i++)
		found = IS(&parts[i], whole_words) || ends_with_word(&parts[i], endings, ARRAY_SIZE(endings));
	found = found || (count > 1 && IS(last, last_words));
	if (!found || (count > 1 && IS(last, about)))
		return NO_SECRET;
	if (IS(last, plain_words) || ends_with_word(last, endings, ARRAY_SIZE(endings)))
		return STRONG;
	if (count > 1 && (IS(last, ((const char *const[]){ "token" })) || IS(&parts[count - 2], key_words)))
		return STRONG;
	return IS(last, ((const char *const[]){ "key", "keys" })) ? BARE : WEAK;
}

bool secret_is_name(const char *name, size_t size)
{
	return name_strength(name, size) != NO_SECRET;
}

/* ---- values ---- */

bool secret_is_placeholder(const char *value, size_t size)
{
	static const char *const words[] = {
		"true", "false", "null", "none", "nil", "yes", "no", "on", "off", "undefined",
		"required", "optional", "missing", "unset", "empty", "string", "disabled", "enabled",
		"redacted", "removed", "invalid", "expired", "default", "unknown", "value",
	};

	/* a placeholder, a cut or redacted value, or a file name */
	if (size == 0 || strchr("$<{[(%*", value[0]) != NULL || memcmp(value, ".", 1) == 0 ||
	    (size >= 3 && memcmp(value, "\xe2\x80\xa6", 3) == 0))
		return true;
	if (size >= 2 && memcmp(value, "~/", 2) == 0)
		return true;
	return is_word(&(struct part){ value, size }, words, ARRAY_SIZE(words)) ||
	    memmem(value, size, SECRET_MARK, strlen(SECRET_MARK)) != NULL;
}

/* Whether it contains a run of at least so many letters and digits, with both in it. */
static bool has_mixed(const char *value, size_t size, size_t least)
{
	for (size_t i = 0, end; i < size; i = end + 1) {
		unsigned classes;

		end = run_of(value, size, i, ALNUM);
		classes = classes_in(value + i, end - i);
		if (end - i >= least && (classes & LETTER) != 0 && (classes & DIGIT) != 0)
			return true;
	}
	return false;
}

/* "feature-1234-login-page" and "release-2026-11-22-rc1" are words and numbers. */
#define KEY_GROUP 4

bool secret_is_key(const char *value, size_t size)
{
	return size >= 16 && run_of(value, size, 0, VALUE) == size && has_mixed(value, size, KEY_GROUP) &&
	    memchr(value, '/', size) == NULL && memchr(value, '.', size) == NULL;
}

/* Program code: f(x), list[i], request.body. next: the byte after it, 0: none. */
static bool is_code(const char *value, size_t size, char next)
{
	if (next == '(' || next == '[')
		return true;
	return memchr(value, '.', size) != NULL && (classes_in(value, size) & DIGIT) == 0 &&
	    run_of(value, size, 0, ALNUM | UNDER | DOT) == size;
}

/* A sentence such as "must be at least 8 characters" contains numbers; a passphrase contains them
 * within a word. */
#define PHRASE_WORD 8

/* STYLE_HEADER: after "Basic " and the like, where a word of a sentence may follow, too. */
enum style { STYLE_ENV, STYLE_HEADER, STYLE_OTHER };

/* Not a key: keys contain digits or inner capitals, or are longer than words. */
static bool is_plain_word(const char *value, size_t size)
{
	return (classes_in(value, size) & (DIGIT | BASE64)) == 0 && (classes_in(value + 1, size - 1) & UPPER) == 0 &&
	    run_of(value, size, 0, LETTER) < 16;
}

static bool is_secret_value(const char *value, size_t size, enum style style,
    enum strength strength, bool quoted, char next)
{
	unsigned classes = classes_in(value, size);
	bool mixed = (classes & LETTER) != 0 && (classes & DIGIT) != 0, spaced = memchr(value, ' ', size) != NULL;

	if (secret_is_placeholder(value, size) || (!quoted && is_code(value, size, next)))
		return false;
	if (style != STYLE_OTHER)
		return size >= 6 && (style == STYLE_ENV || !is_plain_word(value, size));
	if (strength == BARE)
		return false;
	if (strength == WEAK)
		return size >= 16 && mixed && !spaced;
	if (quoted)
		return size >= 6 && (!spaced || has_mixed(value, size, PHRASE_WORD));
	return size >= 8 && mixed && !spaced && value[0] != '/' && memchr(value, '.', size) == NULL;
}

/* ---- NAME=value ---- */

#define NAME_MAX_SIZE 128
#define QUOTED_MAX 256

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static size_t skip_blanks(const struct secret_scan *s, size_t at)
{
	size_t end = at;

	while (end < s->size && end - at < 16 && (s->text[end] == ' ' || s->text[end] == '\t'))
		end++;
	return end;
}

/* A quotation mark, preceded by a backslash in JSON within JSON. */
static size_t skip_quote(const struct secret_scan *s, size_t at, char *quote)
{
	size_t mark = at < s->size && s->text[at] == '\\' ? at + 1 : at;

	*quote = '\0';
	if (mark >= s->size || !is_quote(s->text[mark]))
		return at;
	*quote = s->text[mark];
	return mark + 1;
}

/* ":", "=", ":=", "=>" after a name that ends at *at; *at: beginning of the value. False: not an
 * assignment. */
static bool skip_sign(const struct secret_scan *s, size_t *at, bool *tight)
{
	size_t end;
	char quote;

	end = skip_blanks(s, skip_quote(s, *at, &quote));
	if (end >= s->size || (s->text[end] != '=' && s->text[end] != ':'))
		return false;
	*tight = end == *at && s->text[end] == '=';
	end++;
	/* "::" belongs to a language, "==" compares, "://" is a URL */
	if (end < s->size &&
	    (s->text[end] == ':' || secret_begins(s, end, "//") ||
	        (s->text[end] == '=' && s->text[end - 1] == '=')))
		return false;
	if (end < s->size && (s->text[end] == '=' || s->text[end] == '>'))
		end++;
	*tight = *tight && end < s->size && s->text[end] != ' ';
	*at = skip_blanks(s, end);
	return true;
}

/* "Basic " of a header. */
static size_t skip_scheme(const struct secret_scan *s, size_t at)
{
	static const char *const schemes[] = { "Bearer ", "Basic ", "Token ", "ApiKey " };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]);

		if (s->size - at > n && strncasecmp(s->text + at, schemes[i], n) == 0)
			return skip_blanks(s, at + n);
	}
	return at;
}

/* End of a value: its quotation mark, or a byte that cannot be part of it; without quotes, at most
 * `most` bytes. */
static size_t value_end(const struct secret_scan *s, size_t at, char quote, size_t most)
{
	size_t end = at;

	for (; quote != '\0' && end < s->size && end - at < QUOTED_MAX && s->text[end] != '\n'; end++)
		if (s->text[end] == quote)
			return end > at && s->text[end - 1] == '\\' ? end - 1 : end;
	for (end = at; end < s->size && end - at < most && !isspace((unsigned char)s->text[end]) &&
	     !is_quote(s->text[end]);
	     end++)
		if (strchr(",;&|<>()[]{}\\", s->text[end]) != NULL)
			break;
	return end;
}

/* A name at `at`, which is examined once. */
static bool find_assignment(struct secret_scan *s, size_t at, struct secret_match *hit)
{
	size_t end = run_of(s->text, s->size, at, NAME), value, stop, upper;
	enum strength strength;
	enum style style;
	bool tight;
	char quote;

	s->named = end;
	if (end == at || end - at > NAME_MAX_SIZE || (strength = name_strength(s->text + at, end - at)) == NO_SECRET)
		return false;
	value = end;
	if (!skip_sign(s, &value, &tight))
		return false;
	for (upper = at; upper < end && (class_of(s->text[upper]) & (UPPER | DIGIT | UNDER)) != 0; upper++)
		;
	style = tight && upper == end ? STYLE_ENV : STYLE_OTHER;
	value = skip_quote(s, value, &quote);
	stop = skip_scheme(s, value);
	if (stop != value)
		style = STYLE_HEADER;
	value = stop;
	stop = value_end(s, value, quote, JUDGED_MAX);
	if (!is_secret_value(s->text + value, stop - value, style, strength, quote != '\0',
	        stop < s->size ? s->text[stop] : '\0'))
		return false;
	*hit = (struct secret_match){ value, value_end(s, value, quote, SIZE_MAX) };
	return true;
}

/* ---- keys of known services ---- */

static const struct known {
	const char *head;
	unsigned body;		/* character classes of the rest */
	size_t min;
	size_t exact;		/* ... exactly; 0: any length */
	/* MIXED: a letter and a digit; LONG_RUN: likewise, and 16 bytes without punctuation */
	enum { ANY, MIXED, LONG_RUN } rule;
} known[] = {
	{ "sk-ant-", ALNUM | UNDER | DASH, 12, 0, ANY },
	{ "sk-proj-", ALNUM | UNDER | DASH, 16, 0, MIXED },
	{ "sk-svcacct-", ALNUM | UNDER | DASH, 16, 0, MIXED },
	{ "sk-admin-", ALNUM | UNDER | DASH, 16, 0, MIXED },
	{ "sk-or-v1-", ALNUM, 16, 0, MIXED },
	{ "sk-", ALNUM | UNDER | DASH, 20, 0, LONG_RUN },
	{ "sk_live_", ALNUM, 16, 0, ANY }, { "sk_test_", ALNUM, 16, 0, MIXED },
	{ "rk_live_", ALNUM, 16, 0, ANY },
	{ "ghp_", ALNUM, 20, 0, ANY }, { "gho_", ALNUM, 20, 0, ANY },
	{ "ghu_", ALNUM, 20, 0, ANY },
	{ "ghs_", ALNUM, 20, 0, ANY },
	{ "ghr_", ALNUM, 20, 0, ANY },
	{ "github_pat_", ALNUM | UNDER, 20, 0, MIXED },
	{ "glpat-", ALNUM | UNDER | DASH, 16, 0, ANY },
	{ "AKIA", UPPER | DIGIT, 16, 16, ANY },
	{ "ASIA", UPPER | DIGIT, 16, 16, ANY },
	{ "AIza", ALNUM | UNDER | DASH, 35, 0, ANY },
	{ "ya29.", ALNUM | UNDER | DASH, 20, 0, ANY },
	{ "xoxa-", ALNUM | DASH, 10, 0, MIXED },
	{ "xoxb-", ALNUM | DASH, 10, 0, MIXED },
	{ "xoxp-", ALNUM | DASH, 10, 0, MIXED },
	{ "xoxr-", ALNUM | DASH, 10, 0, MIXED },
	{ "xoxs-", ALNUM | DASH, 10, 0, MIXED },
	{ "npm_", ALNUM, 30, 0, ANY },
	{ "pypi-AgEI", ALNUM | UNDER | DASH, 16, 0, ANY },
	{ "hf_", ALNUM, 30, 0, ANY },
	{ "gsk_", ALNUM, 30, 0, ANY },
	{ "xai-", ALNUM, 40, 0, ANY },
	{ "dop_v1_", ALNUM, 40, 0, ANY },
};

static bool secret_fits(const struct known *k, const char *body, size_t size)
{
	unsigned classes = classes_in(body, size);

	if (size < k->min || (k->exact != 0 && size != k->exact))
		return false;
	if (k->rule == ANY)
		return true;
	if ((classes & LETTER) == 0 || (classes & DIGIT) == 0)
		return false;
	for (size_t i = 0, end; k->rule == LONG_RUN && i < size; i = end + 1) {
		end = run_of(body, size, i, ALNUM);
		if (end - i >= 16)
			return true;
	}
	return k->rule == MIXED;
}

static bool find_known(const struct secret_scan *s, size_t at, struct secret_match *hit)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t from = at + strlen(known[i].head), to;

		if (!secret_begins(s, at, known[i].head))
			continue;
		/* UPPER is a class of letters: a lower-case one ends it */
		to = run_of(s->text, s->size - from < JUDGED_MAX ? s->size : from + JUDGED_MAX, from, known[i].body);
		/* exact ones must end here */
		if (!secret_fits(&known[i], s->text + from, to - from) ||
		    (known[i].exact != 0 && to < s->size && (class_of(s->text[to]) & ALNUM) != 0))
			continue;
		*hit = (struct secret_match){ from, run_of(s->text, s->size, to, known[i].body) };
		return true;
	}
	return false;
}

/* Three parts of base64url separated by dots. */
static bool find_web_token(struct secret_scan *s, size_t at, struct secret_match *hit)
{
	size_t end = at;

	if (!secret_begins(s, at, "eyJ"))
		return false;
	for (int part = 0; part < 3; part++) {
		size_t from = end;

		end = word_end(s, from, part);
		if (part < 2 && (end - from < 8 || end == s->size || s->text[end++] != '.'))
			return false;
	}
	*hit = (struct secret_match){ at + 3, end };
	return true;
}

/* "Bearer SECRET", in any text. */
static bool find_bearer(const struct secret_scan *s, size_t at, struct secret_match *hit)
{
	size_t from, to;

	if (s->size - at < 7 || strncasecmp(s->text + at, "bearer ", 7) != 0)
		return false;
	from = skip_blanks(s, at + 7);
	to = run_of(s->text, s->size, from, VALUE);
	while (to > from && s->text[to - 1] == '.')
		to--;
	if (to - from < 16 || (classes_in(s->text + from, to - from) & DIGIT) == 0)
		return false;
	*hit = (struct secret_match){ from, to };
	return true;
}

/* ---- URLs ---- */

/* at: the ':' of "://". */
static bool find_in_url(const struct secret_scan *s, size_t at, struct secret_match *hit)
{
	size_t from = at + 3, host = 0, colon = 0;

	if (!secret_begins(s, at, "://"))
		return false;
	for (size_t i = from; i < s->size; i++) {
		char c = s->text[i];

		if (isspace((unsigned char)c) || c == '\0' || strchr("/?#\"'<>`", c) != NULL)
			break;
		if (c == '@')
			host = i;
		else if (c == ':' && colon == 0)
			colon = i;
	}
	if (host == 0)
		return false;
	/* without a colon the user name may be a token */
	if (colon == 0 || colon > host) {
		*hit = (struct secret_match){ from, host };
		return host - from >= 20 && secret_is_key(s->text + from, host - from);
	}
	*hit = (struct secret_match){ colon + 1, host };
	return host > colon + 1 && !secret_is_placeholder(s->text + colon + 1, host - colon - 1);
}

/* ---- private keys ---- */

#define KEY_FILE_MAX ((size_t)64 * 1024)
#define KEY_WORD 16

static const char key_begin[] = "-----BEGIN ", key_last[] = "PRIVATE KEY-----", key_end[] = "-----END ";

/* The next line that ends a key, after `at`; searched once. */
static size_t next_end(struct secret_scan *s, size_t at)
{
	const char *found;

	if (!s->key_known || s->key_end < at) {
		found = memmem(s->text + at, s->size - at, key_end, strlen(key_end));
		s->key_end = found != NULL ? (size_t)(found - s->text) : s->size;
		s->key_known = true;
	}
	return s->key_end;
}

/* A key without an end: as far as it looks like one, in lines of a file or a string. */
static size_t key_body(const struct secret_scan *s, size_t at)
{
	size_t end = at;

	for (;;) {
		size_t word = end, stop;

		while (word < s->size &&
		    (isspace((unsigned char)s->text[word]) || secret_begins(s, word, "\\n") ||
		        secret_begins(s, word, "\\r")))
			word += s->text[word] == '\\' ? 2 : 1;
		stop = run_of(s->text, s->size, word, ALNUM | BASE64);
		if (stop - word < KEY_WORD)
			return end;
		end = stop;
	}
}

static bool find_private_key(struct secret_scan *s, size_t at, struct secret_match *hit)
{
	const char *last;
	size_t from, end;

	if (!secret_begins(s, at, key_begin))
		return false;
	last = memmem(s->text + at, s->size - at < 64 ? s->size - at : 64, key_last, strlen(key_last));
	if (last == NULL)
		return false;
	from = (size_t)(last - s->text) + strlen(key_last);
	end = next_end(s, from);
	if (end == s->size || end - from > KEY_FILE_MAX)
		end = key_body(s, from);
	*hit = (struct secret_match){ from, end };
	return end > from &&
	    (end - from != strlen(SECRET_MARK) ||
	        memcmp(s->text + from, SECRET_MARK, end - from) != 0);
}

/* ---- the face ---- */

bool secret_find(struct secret_scan *scan, size_t at, struct secret_match *hit)
{
	char c = scan->text[at];

	if (c == ':')
		return find_in_url(scan, at, hit);
	if (c == '-')
		return find_private_key(scan, at, hit);
	if ((class_of(c) & (ALNUM | UNDER)) == 0 || !is_free(scan, at))
		return false;
	if (find_known(scan, at, hit) || find_web_token(scan, at, hit) || find_bearer(scan, at, hit))
		return true;
	return at >= scan->named && find_assignment(scan, at, hit);
}
