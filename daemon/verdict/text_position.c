/* SPDX-License-Identifier: MIT */
#include "verdict/text_position.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define PATH_LONGEST 1024
#define LINE_DIGITS 9

/* `name.suffix` alone may also be code: only with these suffixes it is a file. */
static const char *const suffixes[] = {
	"c", "h", "cc", "hh", "cpp", "hpp", "m", "rs", "go", "zig", "py", "js", "jsx", "mjs", "ts",
	"tsx", "vue", "java", "kt", "scala", "cs", "rb", "php", "pl", "swift", "sh", "bash", "sql",
	"md", "rst", "txt", "json", "toml", "yaml", "yml", "xml", "html", "css", "scss", "ini",
	"cfg", "conf", "lock", "mod", "csv", "proto", "tf",
};

static bool is_path_char(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c != '\0' && strchr("_./@+-[]", c) != NULL);
}

/* Length of the suffix of the last name; 0: none. */
static size_t suffix_length(const char *path, size_t size)
{
	size_t n = 0;

	while (n < size && isalnum((unsigned char)path[size - 1 - n]))
		n++;
	return n > 0 && n <= 8 && n + 1 < size && path[size - 1 - n] == '.' &&
	    isalpha((unsigned char)path[size - n]) ? n : 0;
}

static bool is_known(const char *suffix, size_t size)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (strlen(suffixes[i]) == size && strncasecmp(suffixes[i], suffix, size) == 0)
			return true;
	}
	return false;
}

static bool is_evident(const char *path, size_t size, bool quoted, long line)
{
	size_t suffix = suffix_length(path, size);
	bool folder = memchr(path, '/', size) != NULL;

	if (size == 0 || size > PATH_LONGEST)
		return false;
	if (line > 0)
		/* Makefile */
		return folder || suffix > 0 || (quoted && isupper((unsigned char)path[0]));
	return quoted && suffix > 0 && (folder || is_known(path + size - suffix, suffix));
}

static size_t digits(const char *p)
{
	return strspn(p, "0123456789");
}

/* ":12", ":12:5", ":12-15", "#L12-L15", " line 12", " (lines 12-15)" at p: its length and the first
 * number; 0: none. */
static size_t line_length(const char *p, long *line)
{
	static const char *const openings[] = { ":", "#L", " (line ", " (lines ", " (L", " line ", " lines " };
	size_t n, more;

	for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
		n = strlen(openings[i]);
		if (strncmp(p, openings[i], n) != 0)
			continue;
		more = digits(p + n);
		if (more == 0 || more > LINE_DIGITS)
			continue;
		*line = 0;
		for (; more > 0; more--, n++)
			*line = *line * 10 + (p[n] - '0');
		if (p[n] == ':' || p[n] == '-') {
			more = p[n + 1] == 'L' ? 2 : 1;
			if (digits(p + n + more) > 0)
				n += more + digits(p + n + more);
		}
		return openings[i][1] == '(' && p[n] == ')' ? n + 1 : n;
	}
	return 0;
}

/* Length of the separator between a position and the text; 0: none. */
static size_t separator_length(const char *p)
{
	static const char *const marks[] = { ":", ",", "-", "\xe2\x80\x93", "\xe2\x80\x94" };
	size_t white = strspn(p, " \t\n"), n;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		n = white + strlen(marks[i]);
		if (strncmp(p + white, marks[i], n - white) == 0 && isspace((unsigned char)p[n]))
			return n + strspn(p + n, " \t\n");
	}
	return 0;
}

struct text_position text_position_read(const char *text)
{
	struct text_position place = { .file = text };
	const struct text_position none = { 0 };
	const char *p = text;
	size_t n;

	if (*p == '`')
		place.file = ++p;
	while (is_path_char(*p))
		p++;
	place.file_size = (size_t)(p - place.file);
	p += line_length(p, &place.line);
	if (place.file != text) {
		if (*p++ != '`')
			return none;
		if (place.line == 0)
			p += line_length(p, &place.line);
	}
	if (!is_evident(place.file, place.file_size, place.file != text, place.line))
		return none;
	n = separator_length(p);
	if (n == 0 && place.line > 0)
		n = strspn(p, " \t\n");
	if (n == 0 && place.line > 0 && *p != '\0')
		return none;
	if (n > 0 && p[n] != '\0')
		place.length = (size_t)(p - text) + n;
	return place;
}
