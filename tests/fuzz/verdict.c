/* SPDX-License-Identifier: MIT */
/* Any bytes as a reviewer's output, for the carriers verdict and decision: a verdict is read only
 * where a second reader, plain and slow, reads the same one. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/verdict.h"

/* ---- the plain reader: shares nothing with the daemon, goes back and forth as it likes ---- */

enum { DEPTH_MAX = 64, KEPT_MAX = 64, KEYS_MAX = 4096, PLAIN_MAX = 32 * 1024, TOKENS_MAX = 400, TOKEN_MAX = 80 };

/* The names of a carrier. */
struct dialect {
	enum carrier carrier;
	const char *key, *words, *pass, *findings;
	const char *checks;		/* an object of booleans, when it is there */
};

static const struct dialect dialects[] = {
	{ CARRIER_VERDICT, "verdict", "followUpPrompt", "pass", "drift", NULL },
	{ CARRIER_DECISION, "decision", "feedback", "GO", "NO_GO", "quality_checks" },
};

struct parser {
	const struct dialect *dialect;
	const unsigned char *at, *end;
	char *verdict, *words;		/* of the outermost object; decoded, NULL
					 * when it is no string */
	bool has_verdict;
	bool bad_checks;
};

static void space(struct parser *p)
{
	while (p->at < p->end && memchr(" \t\r\n", *p->at, 4) != NULL)
		p->at++;
}

static bool take(struct parser *p, char c)
{
	space(p);
	if (p->at >= p->end || *p->at != (unsigned char)c)
		return false;
	p->at++;
	return true;
}

static void put_point(char **out, unsigned long c)
{
	if (c < 0x80) {
		*(*out)++ = (char)c;
	} else if (c < 0x800) {
		*(*out)++ = (char)(0xc0 | c >> 6);
		*(*out)++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*(*out)++ = (char)(0xe0 | c >> 12);
		*(*out)++ = (char)(0x80 | (c >> 6 & 63));
		*(*out)++ = (char)(0x80 | (c & 63));
	} else {
		*(*out)++ = (char)(0xf0 | c >> 18);
		*(*out)++ = (char)(0x80 | (c >> 12 & 63));
		*(*out)++ = (char)(0x80 | (c >> 6 & 63));
		*(*out)++ = (char)(0x80 | (c & 63));
	}
}

static bool hex4(struct parser *p, unsigned long *value)
{
	*value = 0;
	if (p->end - p->at < 4)
		return false;
	for (int i = 0; i < 4; i++, p->at++) {
		const char *digits = "0123456789abcdef", *d = *p->at ? strchr(digits, tolower(*p->at)) : NULL;

		if (d == NULL)
			return false;
		*value = *value * 16 + (unsigned long)(d - digits);
	}
	return true;
}

/* A point of UTF-8: put it together, then see whether that was the shortest way. */
static bool raw_point(struct parser *p, char **out)
{
	unsigned long c = *p->at;
	int more = c < 0x80 ? 0 : (c & 0xe0) == 0xc0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : (c & 0xf8) == 0xf0 ? 3 : -1;
	static const unsigned long least[] = { 0, 0x80, 0x800, 0x10000 };

	if (more < 0 || p->end - p->at <= more)
		return false;
	c = more == 0 ? c : c & (0x3fUL >> more);
	for (int i = 1; i <= more; i++) {
		if ((p->at[i] & 0xc0) != 0x80)
			return false;
		c = c << 6 | (p->at[i] & 0x3f);
	}
	if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return false;
	p->at += more + 1;
	put_point(out, c);
	return true;
}

/* Decoded string, malloc'd, or NULL. */
static char *string(struct parser *p)
{
	char *text, *out;
	unsigned long c, low;

	if (!take(p, '"'))
		return NULL;
	text = out = malloc((size_t)(p->end - p->at) * 3 + 4);
	while (p->at < p->end && *p->at != '"') {
		if (*p->at < 0x20)
			break;
		if (*p->at != '\\') {
			if (!raw_point(p, &out))
				break;
			continue;
		}
		if (++p->at >= p->end)
			break;
		if (*p->at == 'u') {
			p->at++;
			if (!hex4(p, &c) || c == 0 || (c >= 0xdc00 && c <= 0xdfff))
				goto bad;
			if (c >= 0xd800 && c <= 0xdbff) {
				if (p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
					goto bad;
				p->at += 2;
				if (!hex4(p, &low) || low < 0xdc00 || low > 0xdfff)
					goto bad;
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			}
			put_point(&out, c);
		} else {
			const char *names = "\"\\/bfnrt", *means = "\"\\/\b\f\n\r\t",
			    *n = *p->at ? strchr(names, *p->at) : NULL;

			if (n == NULL)
				goto bad;
			*out++ = means[n - names];
			p->at++;
		}
	}
	if (p->at < p->end && *p->at == '"') {
		p->at++;
		*out = '\0';
		return text;
	}
bad:
	free(text);
	return NULL;
}

static bool digits(struct parser *p)
{
	const unsigned char *from = p->at;

	while (p->at < p->end && isdigit(*p->at))
		p->at++;
	return p->at > from;
}

static bool number(struct parser *p)
{
	const unsigned char *from = p->at;
	bool real = false, ok = true;
	char *copy;

	if (p->at < p->end && *p->at == '-')
		p->at++;
	if (p->at < p->end && *p->at == '0')
		p->at++;
	else if (!digits(p))
		return false;
	if (p->at < p->end && *p->at == '.') {
		real = true;
		p->at++;
		if (!digits(p))
			return false;
	}
	if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
		real = true;
		p->at++;
		if (p->at < p->end && (*p->at == '+' || *p->at == '-'))
			p->at++;
		if (!digits(p))
			return false;
	}
	/* what no machine number can hold is not taken, as the daemon's parser does not */
	copy = strndup((const char *)from, (size_t)(p->at - from));
	errno = 0;
	if (real)
		ok = isfinite(strtod(copy, NULL));
	else
		ok = strtoll(copy, NULL, 10) || errno == 0;
	ok = ok && (real || errno == 0);
	free(copy);
	return ok;
}

static bool value(struct parser *p, int depth);
static bool word(struct parser *p, const char *text);

/* The value between them as a string; NULL when it is none. */
static char *decoded(const unsigned char *from, const unsigned char *end)
{
	struct parser again = { .at = from, .end = end };

	return string(&again);
}

/* The value between them, which is known to be JSON, is an object that has nothing
 * but true and false. */
static bool all_booleans(const unsigned char *from, const unsigned char *end)
{
	struct parser again = { .at = from, .end = end };
	bool ok = take(&again, '{');

	if (ok && take(&again, '}'))
		return true;
	do {
		free(string(&again));
		ok = ok && take(&again, ':');
		space(&again);
		ok = ok && (word(&again, "true") || word(&again, "false"));
	} while (ok && take(&again, ','));
	return ok;
}

static bool members(struct parser *p, int depth)
{
	char *keys[KEYS_MAX], *key;
	const unsigned char *from;
	int n = 0;
	bool ok = true;

	if (take(p, '}'))
		return true;
	do {
		key = string(p);
		for (int i = 0; key != NULL && i < n; i++)
			ok = ok && strcmp(keys[i], key) != 0;
		if (key == NULL || n == KEYS_MAX) {
			free(key);
			ok = false;
			break;
		}
		keys[n++] = key;
		ok = ok && take(p, ':');
		space(p);
		from = p->at;
		ok = ok && value(p, depth);
		if (ok && depth == 1 && strcmp(key, p->dialect->key) == 0) {
			p->has_verdict = true;
			p->verdict = decoded(from, p->at);
		} else if (ok && depth == 1 && strcmp(key, p->dialect->words) == 0) {
			p->words = decoded(from, p->at);
		} else if (ok && depth == 1 && p->dialect->checks != NULL && strcmp(key, p->dialect->checks) == 0) {
			p->bad_checks = !all_booleans(from, p->at);
		}
	} while (ok && take(p, ','));
	while (n > 0)
		free(keys[--n]);
	return ok && take(p, '}');
}

static bool word(struct parser *p, const char *text)
{
	if ((size_t)(p->end - p->at) < strlen(text) || memcmp(p->at, text, strlen(text)) != 0)
		return false;
	p->at += strlen(text);
	return true;
}

/* depth: how many objects and arrays are open around it */
static bool value(struct parser *p, int depth)
{
	space(p);
	if (p->at >= p->end)
		return false;
	if (*p->at == '{' || *p->at == '[') {
		bool object = *p->at == '{';

		if (depth >= DEPTH_MAX)
			return false;
		p->at++;
		if (object)
			return members(p, depth + 1);
		if (take(p, ']'))
			return true;
		do {
			if (!value(p, depth + 1))
				return false;
		} while (take(p, ','));
		return take(p, ']');
	}
	if (*p->at == '"') {
		char *text = string(p);

		free(text);
		return text != NULL;
	}
	return word(p, "true") || word(p, "false") || word(p, "null") || number(p);
}

enum said { SAID_BROKEN, SAID_NOTHING, SAID_PASS, SAID_FINDINGS, SAID_ELSE };

/* What the bytes say as one JSON object. */
static enum said object_says(const struct dialect *d, const char *text, size_t size, char **words)
{
	struct parser p = { .dialect = d, .at = (const unsigned char *)text,
	    .end = (const unsigned char *)text + size };
	enum said said = SAID_ELSE;
	bool whole = value(&p, 0);

	space(&p);
	*words = NULL;
	if (!whole || p.at != p.end)
		said = SAID_BROKEN;
	else if (!p.has_verdict)
		said = SAID_NOTHING;
	else if (p.verdict != NULL && strcmp(p.verdict, d->pass) == 0)
		said = SAID_PASS;
	else if (p.verdict != NULL && strcmp(p.verdict, d->findings) == 0)
		said = SAID_FINDINGS;
	/* without them it is no verdict, but the word may contradict another */
	if ((said == SAID_PASS || said == SAID_FINDINGS) && !p.bad_checks) {
		*words = p.words;
		p.words = NULL;
	}
	free(p.verdict);
	free(p.words);
	return said;
}

/* Where the object that opens at i ends, by its braces; size + 1 when it does not. */
static size_t object_end(const char *text, size_t size, size_t i)
{
	int open = 0;

	while (i < size) {
		if (text[i] == '"') {
			for (i++; i < size && text[i] != '"'; i++)
				i += text[i] == '\\';
			if (i >= size)
				return size + 1;
		}
		open += text[i] == '{';
		open -= text[i] == '}';
		i++;
		if (open == 0)
			return i;
	}
	return size + 1;
}

/* Looks back to the start of the line: may an object at i be a verdict? last: where the
 * one before ended. */
static bool may_open(const char *text, size_t i, size_t last)
{
	size_t line = i;

	while (line > 0 && text[line - 1] != '\n' && text[line - 1] != '\r')
		line--;
	if (last > line)
		return true;
	while (line < i && (text[line] == ' ' || text[line] == '\t'))
		line++;
	while (line < i) {
		size_t marks = 0;
		char mark = text[line];

		while (line < i && text[line] == mark && (mark == '`' || mark == '~')) {
			line++;
			marks++;
		}
		if (marks < 3)
			return false;
		while (line < i && (isalnum((unsigned char)text[line]) || text[line] == '_' ||
		    text[line] == '+' || text[line] == '-' || text[line] == '.'))
			line++;
		while (line < i && (text[line] == ' ' || text[line] == '\t'))
			line++;
	}
	return true;
}

struct judgement {
	enum said said;
	char *words;
};

static struct judgement judge_objects(const struct dialect *d, const char *text, size_t size)
{
	enum said *list = malloc((size + 1) * sizeof(*list)), before = SAID_NOTHING;
	char **words = malloc((size + 1) * sizeof(*words));
	size_t n = 0, first, verdicts = 0, last = 0, end, start = 0;
	bool violated = false, broken_last = false;
	struct judgement j = { SAID_NOTHING, NULL };

	for (size_t i = 0; i < size; i++) {
		if (text[i] != '{' || !may_open(text, i, last))
			continue;
		end = object_end(text, size, i);
		words[n] = NULL;
		list[n] = end > size ? SAID_BROKEN : object_says(d, text + i, end - i, &words[n]);
		n++;
		last = end > size ? size : end;
		i = last - 1;
	}
	first = n > KEPT_MAX ? n - KEPT_MAX : 0;
	for (size_t i = first; i < n; i++) {
		if (list[i] == SAID_NOTHING)
			continue;
		if (list[i] == SAID_BROKEN) {
			violated |= verdicts == 0;
			broken_last = true;
			continue;
		}
		violated |= verdicts > 0 && list[i] != before;
		before = list[i];
		broken_last = false;
		verdicts++;
		free(j.words);
		j = (struct judgement){ list[i], words[i] };
		words[i] = NULL;
	}
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	if (verdicts == 0 && !violated) {
		/* the object that ends the text */
		while (size > 0 && strchr(" \t\r\n`~", text[size - 1]) != NULL && text[size - 1] != '\0')
			size--;
		last = 0;
		for (size_t i = 0; i < size && last <= size; i++) {
			if (text[i] != '{')
				continue;
			start = i;
			last = object_end(text, size, i);
			i = last - 1;
		}
		if (last == size && size > 0)
			j.said = object_says(d, text + start, size - start, &j.words);
	} else if (violated || broken_last) {
		j.said = SAID_BROKEN;
	}
	free(list);
	free(words);
	return j;
}

/* Byte by byte through the states of an escape sequence. */
static size_t without_escapes(const char *in, size_t size, char *out)
{
	enum { TEXT, ESCAPE, CONTROL, LETTERS, STRING, STRING_END } state = TEXT;
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)in[i];
		bool structure = c == '{' || c == '}' || c == '"' || c == '\\';
		bool again = false;

		switch (state) {
		case TEXT:
			if (c == 0x1b)
				state = ESCAPE;
			else
				out[n++] = (char)c;
			break;
		case ESCAPE:
			if (c == '[')
				state = CONTROL;
			else if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_')
				state = STRING;
			else if (c >= 0x20 && c <= 0x2f && !structure)
				state = LETTERS;
			else {
				state = TEXT;
				again = structure || c < 0x30 || c > 0x7e;
			}
			break;
		case CONTROL:
		case LETTERS:
			if (c >= 0x20 && c <= (state == CONTROL ? 0x3f : 0x2f) && !structure)
				break;
			state = TEXT;
			again = structure || c < 0x30 || c > 0x7e;
			break;
		case STRING:
			if (c == 0x07)
				state = TEXT;
			else if (c == 0x1b)
				state = STRING_END;
			else if (structure || c < 0x20) {
				state = TEXT;
				again = true;
			}
			break;
		case STRING_END:
			state = TEXT;
			if (c != '\\') {
				state = ESCAPE;
				again = true;
			}
			break;
		}
		if (again)
			i--;
	}
	return n;
}

static struct judgement judge(const struct dialect *d, const char *text, size_t size)
{
	char *plain = malloc(size + 1);
	size_t n = without_escapes(text, size, plain), skip = n >= 3 && memcmp(plain, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	struct judgement j = judge_objects(d, plain + skip, n - skip);

	free(plain);
	return j;
}

/* A text that the reviewer was given is no answer of its own. */
static void check_echo(const struct dialect *d, const char *text, size_t size)
{
	const struct echo_text given = { .data = text, .size = size };
	const struct verdict_input in = { .text = text, .text_size = size, .nonce = "7f3a9c01",
	    .given = &given, .ngiven = 1 };
	struct verdict v;

	if (size > PLAIN_MAX || memmem(text, size, in.nonce, strlen(in.nonce)) != NULL)
		return;
	verdict_read(d->carrier, &in, &v);
	if (v.kind != VERDICT_NONE)
		abort();
	verdict_release(&v);
}

static void check(const struct dialect *d, const char *text, size_t size)
{
	struct verdict_input in = { .text = text, .text_size = size };
	struct judgement j;
	struct verdict v;

	verdict_read(d->carrier, &in, &v);
	if ((v.kind == VERDICT_NONE) != (v.reason != NULL) || (v.kind == VERDICT_NONE) != (v.feedback == NULL))
		abort();
	if (v.nfindings != (v.kind == VERDICT_FINDINGS))
		abort();
	if (v.kind != VERDICT_NONE && size <= PLAIN_MAX) {
		j = judge(d, text, size);
		if (j.said != (v.kind == VERDICT_PASS ? SAID_PASS : SAID_FINDINGS) ||
		    j.words == NULL || strcmp(j.words, v.feedback) != 0) {
			fprintf(stderr, "%s read %d \"%s\", the plain reader says %d \"%s\" in:\n",
			    d->key, v.kind, v.feedback, j.said, j.words ? j.words : "");
			fwrite(text, 1, size, stderr);
			abort();
		}
		free(j.words);
	}
	verdict_release(&v);
	check_echo(d, text, size);
}

/* What reviewers' outputs are made of: a byte of the input picks one. "" is a NUL. @K, @W, @P and
 * @F stand for key, words, pass and findings of the carrier. */
static const char *const tokens[] = {
	"{\"@K\":\"@P\",\"@W\":\"ok\"}", "{\"@K\":\"@F\",\"@W\":\"no\"}", "{\"@K\":\"@P\",\"@W\":\"}{\"}",
	"{\"@K\":\"@P@P\",\"@W\":\"ok\"}", "{\"@K\":\"@P\"}", "{\"note\":1}", "{}", "{broken}",
	"{\"@K\":\"@P\" | \"@F\"}", "{\"@K\":\"@F\",\"@K\":\"@P\",\"@W\":\"ok\"}",
	"{\"@K\":\"@P\",\"@W\":\"ok\",\"n\":1", "", "\"@K\":\"@P\"", "\"@K\":\"@F\"",
	"\"@W\":\"ok\"", "\"a\":", "{\"a\":", "{", "}", "[", "]", ",", ":", "\"", "\\", "\\\"", "\n",
	"\n", "\n", "\r\n", "\r", " ", "\t", "```json\n", "```", "~~~", "`", "prose", "> ", "- ",
	"1", "\x1b[1m", "\x1b]", "\x07", "\x1b\\", "\x1b", "\xef\xbb\xbf", "\xff", "[1] ", "[x] ",
	"null", "\"d\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
	"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "\"quality_checks\":{\"a\":true}",
	"\"quality_checks\":{\"a\":", "true", "false", "{\"@K\":\"@P\",\"@W\":\"ok\",",
};

static char *put_token(char *end, const char *token, const struct dialect *d)
{
	if (token[0] == '\0')
		*end++ = '\0';
	for (; *token != '\0'; token++) {
		const char *name = *token != '@' ? NULL : token[1] == 'K' ? d->key :
		    token[1] == 'W' ? d->words : token[1] == 'P' ? d->pass : d->findings;

		if (name == NULL) {
			*end++ = *token;
		} else {
			end = stpcpy(end, name);
			token++;
		}
	}
	return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t count = sizeof(tokens) / sizeof(tokens[0]);
	char *text = calloc(TOKENS_MAX, TOKEN_MAX), *end;

	for (size_t n = 0; n < sizeof(dialects) / sizeof(dialects[0]); n++) {
		const struct dialect *d = &dialects[n];

		check(d, (const char *)data, size);
		end = text;
		for (size_t i = 0; i < size && i < TOKENS_MAX; i++)
			end = put_token(end, tokens[data[i] % count], d);
		check(d, text, (size_t)(end - text));
	}
	free(text);
	return 0;
}
