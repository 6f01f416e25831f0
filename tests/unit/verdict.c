/* SPDX-License-Identifier: MIT */
/* The verdict carrier: what counts as pass, what as findings, and which sentence names
 * every violation. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/agent.h"
#include "proto/memory.h"
#include "verdict/extract.h"
#include "verdict/verdict.h"

#define EMPTY "empty reviewer output"
#define NO_OBJECT "no JSON object found in reviewer output"
#define BROKEN "reviewer output is not a valid JSON object"
#define CONFLICT "conflicting verdicts"
#define VERDICT(got) "invalid verdict: expected \"pass\" or \"drift\", got " got
#define FOLLOW_UP(got) "missing or invalid followUpPrompt: expected string, got " got

#define P "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"}"
#define D "{\"verdict\":\"drift\",\"followUpPrompt\":\"mend it\"}"
#define K "{\"note\":1}"
/* The shapes as a careless prompt shows them: no JSON. */
#define SHAPE "{\"verdict\": \"pass\" | \"drift\", \"followUpPrompt\": \"...\"}"

struct row {
	const char *name;
	const char *text;
	size_t size;		/* with NULs inside */
	enum verdict_kind kind;
	const char *word;	/* feedback of pass and findings, reason of a violation */
};

#define TEXT(t) t, sizeof(t) - 1
#define PASS(name, t) { name, TEXT(t), VERDICT_PASS, "ok" },
#define DRIFT(name, t) { name, TEXT(t), VERDICT_FINDINGS, "mend it" },
#define PASS_WITH(name, t, feedback) { name, TEXT(t), VERDICT_PASS, feedback },
#define DRIFT_WITH(name, t, feedback) { name, TEXT(t), VERDICT_FINDINGS, feedback },
#define BAD(name, t, reason) { name, TEXT(t), VERDICT_NONE, reason },

static const struct row rows[] = {
	/* plain */
	PASS("bare", P)
	DRIFT("bare drift", D)
	PASS("LF behind", P "\n")
	PASS("many LF around", "\n\n\n" P "\n\n\n")
	PASS("CRLF", "Looks good.\r\n" P "\r\n")
	PASS("lone CR is a line end", "progress 99%\r" P)
	PASS("indented", "Verdict:\n    " P)
	PASS("tab before", "\t" P)
	PASS("prose before", "I ran the tests.\nAll pass.\n\n" P)
	PASS("prose behind", P "\nThat is all.")
	PASS("prose around", "So:\n" P "\nDone.\n")
	DRIFT("prose around drift", "So:\n" D "\nDone.\n")
	PASS("pretty", "{\n  \"verdict\": \"pass\",\n  \"followUpPrompt\": \"ok\"\n}\n")
	PASS("pretty CRLF", "{\r\n  \"verdict\": \"pass\",\r\n  \"followUpPrompt\": \"ok\"\r\n}\r\n")
	DRIFT("keys the other way", "{\"followUpPrompt\":\"mend it\",\"verdict\":\"drift\"}")
	PASS("more keys", "{\"verdict\":\"pass\",\"confidence\":0.9,\"files\":[\"a\",\"b\"],\"followUpPrompt\":\"ok\"}")
	PASS("white space inside", "{ \"verdict\" : \"pass\" , \"followUpPrompt\" : \"ok\" }")
	PASS("escaped letters are the same word", "{\"verdict\":\"p\\u0061ss\",\"followUpPrompt\":\"ok\"}")
	PASS("escaped key is the same key", "{\"v\\u0065rdict\":\"pass\",\"followUpPrompt\":\"ok\"}")
	PASS_WITH("blank summary of a pass", "{\"verdict\":\"pass\",\"followUpPrompt\":\"\"}", "")
	DRIFT_WITH("braces in a string",
	    "{\"verdict\":\"drift\",\"followUpPrompt\":\"close } and { and }}\"}", "close } and { and }}")
	DRIFT_WITH("quotes in a string",
	    "{\"verdict\":\"drift\",\"followUpPrompt\":\"say \\\"}\\\" \\\\\"}", "say \"}\" \\")
	DRIFT_WITH("a verdict in a string",
	    "{\"verdict\":\"drift\",\"followUpPrompt\":\"not {\\\"verdict\\\":\\\"pass\\\"}\"}",
	    "not {\"verdict\":\"pass\"}")
	DRIFT_WITH("escaped line ends", "{\"verdict\":\"drift\",\"followUpPrompt\":\"a\\n{\\n}\"}", "a\n{\n}")
	DRIFT_WITH("unicode", "{\"verdict\":\"drift\",\"followUpPrompt\":\"größer als \\u00e9 \\ud83d\\ude00 漢\"}",
	    "größer als é 😀 漢")
	PASS("nested object without the key", "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"x\":{\"y\":{}}}")
	PASS("nested object with the key counts for nothing",
	    "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"x\":{\"verdict\":\"drift\"}}")
	DRIFT("nested pass counts for nothing",
	    "{\"verdict\":\"drift\",\"x\":{\n\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"\n"
	    "},\"followUpPrompt\":\"mend it\"}")
	DRIFT("nested pass at the start of its line",
	    "{\"verdict\":\"drift\",\"followUpPrompt\":\"mend it\",\"examples\":[\n" P "\n]}")

	/* BOM and escape sequences */
	PASS("BOM", "\xef\xbb\xbf" P)
	BAD("only BOM", "\xef\xbb\xbf", EMPTY)
	BAD("two BOMs: no line starts with the second", "\xef\xbb\xbf\xef\xbb\xbf" K, VERDICT("nothing"))
	PASS("colours around", "\x1b[32m" P "\x1b[0m\n")
	PASS("colours inside", "{\x1b[1m\"verdict\"\x1b[0m:\x1b[32m\"pass\"\x1b[0m,\"followUpPrompt\":\"ok\"}")
	PASS("256 colours before", "\x1b[38;5;10m\x1b[1m" P)
	PASS("title sequence before", "\x1b]0;reviewing\x07" P)
	PASS("title ended by ST", "\x1b]0;reviewing\x1b\\" P)
	PASS("charset sequence", "\x1b(B" P)
	PASS("two-letter sequence", "\x1b=" P)
	PASS("erase line", "\r\x1b[2K" P)
	BAD("an unended title does not swallow the next line", P "\n\x1b]0;x\n" D, CONFLICT)
	BAD("an unended title does not swallow an object", P "\n\x1b]0;" D, CONFLICT)
	BAD("a brace is no end of a sequence", P "\n\x1b[" D, CONFLICT)
	BAD("a brace behind ESC stays", P "\n\x1b" D, CONFLICT)
	BAD("ESC at the very end", P "\n{\x1b", BROKEN)
	BAD("only colours", "\x1b[32m\x1b[0m", EMPTY)
	DRIFT("BOM behind a colour", "\x1b[0m\xef\xbb\xbf" D)

	/* fences */
	PASS("json fence", "```json\n" P "\n```\n")
	PASS("bare fence", "```\n" P "\n```")
	PASS("tilde fence", "~~~json\n" P "\n~~~")
	PASS("long fence", "`````json\n" P "\n`````")
	PASS("fence on the same line", "```json " P "```")
	PASS("fence without a word on the same line", "```" P "```")
	PASS("indented fence", "  ```json\n  " P "\n  ```")
	PASS("fence in CRLF", "```json\r\n" P "\r\n```\r\n")
	PASS("fence never closed", "```json\n" P)
	PASS("fence in a fence", "````\n```json\n" P "\n```\n````")
	PASS("pretty in a fence", "Result:\n```json\n{\n\t\"verdict\": \"pass\",\n"
	    "\t\"followUpPrompt\": \"ok\"\n}\n```\nThanks.")
	PASS("code fence before", "```sh\nmake test\n```\n" P)
	BAD("inline code with three marks, then prose", "it printed ```" P "``` which is wrong", NO_OBJECT)
	DRIFT_WITH("fence in a string",
	    "{\"verdict\":\"drift\",\"followUpPrompt\":\"use ```json\\n{}\\n```\"}", "use ```json\n{}\n```")
	BAD("code in a fence that opens a line with a brace",
	    "```c\nint main(void)\n{\n\treturn 0;\n}\n```\n" P, BROKEN)
	PASS("the same code behind no line start", "```c\nint main(void) {\n\treturn 0;\n}\n```\n" P)
	BAD("two fences that disagree", "```json\n" D "\n```\nor\n```json\n" P "\n```", CONFLICT)
	PASS("two fences that agree", "```json\n" P "\n```\nagain\n```json\n" P "\n```")

	/* the object that ends the text */
	PASS("inline at the end", "My verdict is " P)
	PASS("inline code at the end", "My verdict is `" P "`")
	PASS("inline code at the end, LF", "My verdict is ``" P "``\n")
	DRIFT("inline drift at the end", "Verdict: " D "\n")
	PASS("inline behind balanced braces", "The macro ${HOME} and {x} are fine. " P)
	BAD("inline, then prose", "My verdict is " P " and so on", NO_OBJECT)
	BAD("inline, then a dot", "My verdict is " P ".", NO_OBJECT)
	BAD("quoted line", "> " P "\nis what the file says.", NO_OBJECT)
	PASS("quoted line at the end", "> " P)
	PASS("list item at the end", "- " P)
	PASS("bold at the start, inline", "**Verdict** " P)
	BAD("inline in an open brace", "see {\"verdict\":\"drift\", broken " P, BROKEN)
	BAD("inline in an open brace that a string hides", "see {\"x\":\"}\", \"verdict\":\"drift\", " P, BROKEN)
	BAD("inline behind a stray brace", "the loop { is wrong. " P, BROKEN)
	BAD("inline inside another one", "x {\"verdict\":\"drift\",\"y\":" P "}", FOLLOW_UP("nothing"))
	BAD("inline inside another one without the key", "x {\"y\":" P "}", VERDICT("nothing"))
	BAD("inline that disagree", "first " D ", then " P, CONFLICT)
	BAD("inline that disagree, the other way", "first " P ", then " D, CONFLICT)
	PASS("inline shape before", "I answer with " SHAPE ". So: " P)
	BAD("inline broken at the end", "So: {\"verdict\":\"pass\",\"followUpPrompt\":}", BROKEN)
	BAD("inline with the key twice",
	    "So: {\"verdict\":\"drift\",\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"}", BROKEN)
	BAD("inline truncated", "So: {\"verdict\":\"pass\",\"followUpPro", BROKEN)
	BAD("a candidate inside an inline object", "So: {\"verdict\":\"drift\",\"x\":\n" P "\n}\n", BROKEN)
	BAD("a candidate inside an inline object that never ends", "So: {\"verdict\":\"drift\",\"x\":\n" P "\n", BROKEN)
	BAD("a candidate inside an inline array", "So: [\n" P ",\n" P "\n]\n", BROKEN)
	BAD("a drift inside an inline object, then a pass", "So: {\"a\":\n" D "\n}\n" P, CONFLICT)
	BAD("a broken one inside an inline object, then a pass", "So: {\"a\":\n{broken}\n}\n" P, BROKEN)
	BAD("a drift inside an inline object that passes",
	    "So: {\"a\":\n" D "\n,\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"}", BROKEN)
	BAD("a pass inside an inline object, then a pass", "So: {\"a\":\n" P "\n}\n" P, CONFLICT)
	BAD("a candidate inside an inline array that never ends", "So: [\n" P "\n", BROKEN)
	PASS("quoted braces in prose", "A \"{\" is missing in line 4, and a '{'.\n" P)
	PASS("open braces of code in prose", "The loop `for (;;) {` and `if (x) { \"a\"` are fine.\n" P)
	PASS("inline object over two lines before", "It sends {\"a\": 1,\n\"b\": 2}.\n" P)
	BAD("prose braces at the end", "so use {x}", BROKEN)
	PASS("keyless candidate, then inline", K "\nSo: " P)
	BAD("inline keyless at the end", "first " P " then {}", VERDICT("nothing"))
	DRIFT("a candidate with the key beats the one that ends the text", D "\nSo: " P)

	/* several candidates */
	PASS("twice the same", P "\n" P)
	BAD("pass, then drift", P "\n" D, CONFLICT)
	BAD("drift, then pass", D "\n" P, CONFLICT)
	BAD("pass, drift, pass", P "\n" D "\n" P, CONFLICT)
	BAD("drift, drift, pass", D "\n" D "\n" P, CONFLICT)
	DRIFT("two drifts: the last one's words", "{\"verdict\":\"drift\",\"followUpPrompt\":\"a\"}\n" D)
	BAD("on one line", P D, CONFLICT)
	BAD("on one line with space", P " " D, CONFLICT)
	BAD("on one line with words", P " or rather " D, CONFLICT)
	PASS("keyless before", K "\n" P)
	PASS("keyless behind", P "\n" K)
	PASS("empty object before", "{}\n" P)
	BAD("Pass, then pass", "{\"verdict\":\"Pass\",\"followUpPrompt\":\"ok\"}\n" P, CONFLICT)
	BAD("pass, then Pass", P "\n{\"verdict\":\"Pass\",\"followUpPrompt\":\"ok\"}", VERDICT("\"Pass\""))
	BAD("pass, then null", P "\n{\"verdict\":null}", VERDICT("null"))
	BAD("null, then pass", "{\"verdict\":null}\n" P, CONFLICT)
	BAD("pass without words last", P "\n{\"verdict\":\"pass\"}", FOLLOW_UP("nothing"))

	/* broken candidates */
	BAD("broken", "{\"verdict\": pass}", BROKEN)
	BAD("broken, then whole", "{\"verdict\": pass}\n" P, BROKEN)
	BAD("whole, then broken", P "\n{\"verdict\": drift}", BROKEN)
	PASS("broken between two that agree", P "\n{broken}\n" P)
	BAD("broken between two that disagree", P "\n{broken}\n" D, CONFLICT)
	BAD("whole, broken, keyless", P "\n{broken}\n" K, BROKEN)
	BAD("keyless, broken, whole", K "\n{broken}\n" P, BROKEN)
	BAD("truncated", "{\"verdict\":\"pass\",\"followUpPrompt\":\"o", BROKEN)
	BAD("truncated before the brace", "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"", BROKEN)
	BAD("truncated, whole inside", "{\"verdict\":\"drift\",\"x\":\n" P "\n", BROKEN)
	BAD("truncated string, whole behind", "{\"verdict\":\"drift\",\"followUpPrompt\":\"cut\n" P, BROKEN)
	BAD("whole, then truncated", P "\n{\"verdict\":\"drift\",", BROKEN)
	BAD("broken outer, whole inner", "{\"verdict\":\"drift\", oops, \"x\":\n" P "\n}", BROKEN)
	BAD("the shape echoed", SHAPE, BROKEN)
	BAD("the shape echoed, then whole", SHAPE "\n" P, BROKEN)
	BAD("trailing comma", "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",}", BROKEN)
	BAD("single quotes", "{'verdict':'pass','followUpPrompt':'ok'}", BROKEN)
	BAD("bare keys", "{verdict:\"pass\",followUpPrompt:\"ok\"}", BROKEN)
	BAD("comment inside", "{\"verdict\":\"pass\",/* sure */\"followUpPrompt\":\"ok\"}", BROKEN)
	BAD("typographic quotes", "{“verdict”:“pass”,“followUpPrompt”:“ok”}", BROKEN)
	BAD("raw line end in a string", "{\"verdict\":\"pass\",\"followUpPrompt\":\"a\nb\"}", BROKEN)
	BAD("raw tab in a string", "{\"verdict\":\"pass\",\"followUpPrompt\":\"a\tb\"}", BROKEN)
	BAD("invalid UTF-8 in it", "{\"verdict\":\"pass\",\"followUpPrompt\":\"\xff\"}", BROKEN)
	PASS("invalid UTF-8 outside", "caf\xe9 \xff\xfe\n" P)
	BAD("lone surrogate", "{\"verdict\":\"pass\",\"followUpPrompt\":\"\\ud800\"}", BROKEN)
	BAD("escaped NUL", "{\"verdict\":\"pass\",\"followUpPrompt\":\"a\\u0000b\"}", BROKEN)
	BAD("raw NUL in a string", "{\"verdict\":\"pass\",\"followUpPrompt\":\"a\0b\"}", BROKEN)
	BAD("raw NUL behind a number", "{\"verdict\":\"pass\",\"n\":1\0,\"followUpPrompt\":\"ok\"}", BROKEN)
	BAD("raw NUL before the last brace", "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"n\":1\0}", BROKEN)
	PASS("NUL in prose", "a\0b\n" P)
	BAD("NUL before the brace", "\0" P " x", NO_OBJECT)
	BAD("missing colon", "{\"verdict\" \"pass\"}", BROKEN)
	BAD("NaN in it", "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"n\":NaN}", BROKEN)
	BAD("only a brace", "{", BROKEN)
	BAD("only braces", "{{}}", BROKEN)
	BAD("brackets crossed", "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"x\":[}]}", BROKEN)
	BAD("an open bracket inside", "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"x\":[}", BROKEN)
	BAD("backslash outside a string", "{\"verdict\":\"pass\",\\\"followUpPrompt\":\"ok\"}", BROKEN)

	/* keys twice */
	BAD("drift and pass in one", "{\"verdict\":\"drift\",\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"}", BROKEN)
	BAD("the same twice", "{\"verdict\":\"pass\",\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"}", BROKEN)
	BAD("twice by an escape",
	    "{\"verdict\":\"drift\",\"verdic\\u0074\":\"pass\",\"followUpPrompt\":\"ok\"}", BROKEN)
	BAD("another key twice", "{\"verdict\":\"pass\",\"followUpPrompt\":\"a\",\"followUpPrompt\":\"ok\"}", BROKEN)
	BAD("twice in a nested one", "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"x\":{\"a\":1,\"a\":2}}", BROKEN)
	BAD("twice, then whole", "{\"verdict\":\"drift\",\"verdict\":\"drift\",\"followUpPrompt\":\"a\"}\n" P, BROKEN)

	/* values */
	BAD("Pass", "{\"verdict\":\"Pass\",\"followUpPrompt\":\"ok\"}", VERDICT("\"Pass\""))
	BAD("PASS", "{\"verdict\":\"PASS\",\"followUpPrompt\":\"ok\"}", VERDICT("\"PASS\""))
	BAD("passed", "{\"verdict\":\"passed\",\"followUpPrompt\":\"ok\"}", VERDICT("\"passed\""))
	BAD("space behind", "{\"verdict\":\"pass \",\"followUpPrompt\":\"ok\"}", VERDICT("\"pass \""))
	BAD("the other profile's word", "{\"verdict\":\"GO\",\"followUpPrompt\":\"ok\"}", VERDICT("\"GO\""))
	BAD("blank", "{\"verdict\":\"\",\"followUpPrompt\":\"ok\"}", VERDICT("\"\""))
	BAD("true", "{\"verdict\":true,\"followUpPrompt\":\"ok\"}", VERDICT("true"))
	BAD("null", "{\"verdict\":null,\"followUpPrompt\":\"ok\"}", VERDICT("null"))
	BAD("number", "{\"verdict\":1,\"followUpPrompt\":\"ok\"}", VERDICT("1"))
	BAD("array of it", "{\"verdict\":[\"pass\"],\"followUpPrompt\":\"ok\"}", VERDICT("[\"pass\"]"))
	BAD("object of it", "{\"verdict\":{\"verdict\":\"pass\"},\"followUpPrompt\":\"ok\"}",
	    VERDICT("{\"verdict\":\"pass\"}"))
	BAD("homoglyph", "{\"verdict\":\"p\xd0\xb0ss\",\"followUpPrompt\":\"ok\"}", VERDICT("\"p\\u0430ss\""))
	BAD("zero width inside", "{\"verdict\":\"pa\xe2\x80\x8bss\",\"followUpPrompt\":\"ok\"}",
	    VERDICT("\"pa\\u200Bss\""))
	BAD("control character shown as escape",
	    "{\"verdict\":\"a\\u0007b\",\"followUpPrompt\":\"ok\"}", VERDICT("\"a\\u0007b\""))
	BAD("long value cut", "{\"verdict\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
	    VERDICT("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."))
	BAD("key in another case", "{\"Verdict\":\"pass\",\"followUpPrompt\":\"ok\"}", VERDICT("nothing"))
	BAD("key with a space", "{\"verdict \":\"pass\",\"followUpPrompt\":\"ok\"}", VERDICT("nothing"))
	BAD("no key", "{\"followUpPrompt\":\"ok\"}", VERDICT("nothing"))
	BAD("empty object", "{}", VERDICT("nothing"))
	BAD("the key of another profile", "{\"decision\":\"GO\",\"feedback\":\"\"}", VERDICT("nothing"))
	BAD("follow-up missing", "{\"verdict\":\"pass\"}", FOLLOW_UP("nothing"))
	BAD("follow-up missing, drift", "{\"verdict\":\"drift\"}", FOLLOW_UP("nothing"))
	BAD("follow-up null", "{\"verdict\":\"pass\",\"followUpPrompt\":null}", FOLLOW_UP("null"))
	BAD("follow-up number", "{\"verdict\":\"drift\",\"followUpPrompt\":7}", FOLLOW_UP("7"))
	BAD("follow-up array", "{\"verdict\":\"drift\",\"followUpPrompt\":[\"a\"]}", FOLLOW_UP("[\"a\"]"))
	BAD("follow-up object", "{\"verdict\":\"drift\",\"followUpPrompt\":{\"a\":1}}", FOLLOW_UP("{\"a\":1}"))
	BAD("follow-up in another case", "{\"verdict\":\"pass\",\"followupPrompt\":\"ok\"}", FOLLOW_UP("nothing"))
	BAD("blank drift", "{\"verdict\":\"drift\",\"followUpPrompt\":\"\"}", FOLLOW_UP("\"\""))
	BAD("white drift", "{\"verdict\":\"drift\",\"followUpPrompt\":\" \\n\\t\"}", FOLLOW_UP("\" \\n\\t\""))
	BAD("both wrong: the verdict is named", "{\"verdict\":\"Pass\"}", VERDICT("\"Pass\""))

	/* nothing, prose, other JSON */
	BAD("empty", "", EMPTY)
	BAD("white space", " \t\r\n\n", EMPTY)
	BAD("prose", "Everything is fine, verdict: pass.", NO_OBJECT)
	BAD("prose that sounds like it", "verdict: pass\nfollowUpPrompt: ok\n", NO_OBJECT)
	BAD("PASS as a word", "PASS", NO_OBJECT)
	BAD("JSON true", "true", BROKEN)
	BAD("JSON null", "null", BROKEN)
	BAD("JSON string", "\"pass\"", BROKEN)
	BAD("JSON string with an object in it", "\"{\\\"verdict\\\":\\\"pass\\\"}\"", BROKEN)
	BAD("JSON number", "0", BROKEN)
	BAD("array", "[\"pass\"]", BROKEN)
	BAD("empty array", "[]", BROKEN)
	BAD("array with a verdict", "[" P "]", BROKEN)
	BAD("array with a verdict on its line", "[\n" P "\n]", BROKEN)
	BAD("array of arrays", "[[\n" P "\n]]", BROKEN)
	BAD("array with other things first", "[1,\n" P "\n]", BROKEN)
	BAD("array with a string first", "[\"x\",\n" P "\n]", BROKEN)
	BAD("array in a fence", "```json\n[\n" P "\n]\n```", BROKEN)
	BAD("array that never ends", "[\n" P "\n", BROKEN)
	BAD("array, then a verdict", "[" D "]\n" P, CONFLICT)
	BAD("array between two verdicts", P "\n[\n" D "\n]\n" P, CONFLICT)
	BAD("array with a broken object, then a verdict", "[{\"a\":1},\n{broken}\n]\n" P, BROKEN)
	PASS("array of other things, then a verdict", "[{\"file\":\"a.c\"}]\n" P)
	PASS("check boxes", "[x] builds\n[ ] lints\n" P)
	PASS("footnotes", "[1] see a.c\n[2]: b.c\n" P)
	PASS("log lines", "[12:30:01] done\n[info] ok\n" P)
	BAD("YAML", "verdict: pass\n---\n", NO_OBJECT)
	BAD("XML", "<verdict>pass</verdict>", NO_OBJECT)
	BAD("prose with a brace", "the loop { is wrong", NO_OBJECT)
	BAD("closing braces only", "}}}}", NO_OBJECT)
	BAD("marks only", "```", NO_OBJECT)
	BAD("the key alone", "\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"", NO_OBJECT)
	BAD("base64", "eyJ2ZXJkaWN0IjoicGFzcyJ9", NO_OBJECT)
	BAD("full-width brace", "\xef\xbd\x9b\"verdict\":\"pass\"\xef\xbd\x9d", NO_OBJECT)

	/* echoes */
	PASS("the contract echoed inline, then a verdict",
	    "To accept: `" P "`\nTo refuse: `" D "`\nHere is mine:\n" P)
	BAD("the contract echoed and nothing else", "To accept: `" P "`\nTo refuse: `" D "`", CONFLICT)
	BAD("the contract echoed at line starts", "Either\n" P "\nor\n" D "\n", CONFLICT)
	DRIFT("diff lines with a verdict in them", "+" P "\n-" P "\n@@\n" D)
	BAD("a file quoted with a pass in it, behind the drift", D "\n```\n" P "\n```", CONFLICT)
	BAD("a tool call echoed", "{\"name\":\"Write\",\"input\":{\"verdict\":\"pass\"}}", VERDICT("nothing"))
	BAD("a result line echoed", "{\"type\":\"result\",\"result\":\"{\\\"verdict\\\":\\\"pass\\\","
	    "\\\"followUpPrompt\\\":\\\"\\\"}\"}", VERDICT("nothing"))
	BAD("half a line in front", "Verdict:" P "\nBut wait, ", NO_OBJECT)
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static struct verdict read_text(const char *text, size_t size)
{
	struct verdict_input in = { .text = text, .text_size = size };
	struct verdict v;

	verdict_read(CARRIER_VERDICT, &in, &v);
	return v;
}

static void expect(struct verdict v, enum verdict_kind kind, const char *word, const char *name)
{
	const char *said = v.kind == VERDICT_NONE ? v.reason : v.feedback;

	ck_assert_msg(v.kind == kind, "%s: kind %d, not %d (%s)", name, v.kind, kind, said);
	ck_assert_msg(strcmp(said, word) == 0, "%s: \"%s\", not \"%s\"", name, said, word);
	ck_assert((v.reason == NULL) == (kind != VERDICT_NONE));
	ck_assert((v.feedback == NULL) == (kind == VERDICT_NONE));
	ck_assert_uint_eq(v.nfindings, kind == VERDICT_FINDINGS);
	if (v.nfindings > 0) {
		ck_assert_str_eq(v.findings[0].text, word);
		ck_assert_ptr_null(v.findings[0].file);
		ck_assert_int_eq(v.findings[0].line, 0);
	}
	verdict_release(&v);
}

/* The text is copied to its exact size, so that a sanitizer sees every byte read behind it. */
START_TEST(table)
{
	const struct row *row = &rows[_i];
	char *text = malloc(row->size > 0 ? row->size : 1);
	struct verdict v;

	memcpy(text, row->text, row->size);
	v = read_text(text, row->size);
	expect(v, row->kind, row->word, row->name);
	free(text);
}
END_TEST

/* Every prefix of a whole text: a pass appears with its last brace, never before. */
START_TEST(prefixes)
{
	static const char *const texts[] = {
		P, "Fine.\n```json\n" P, "\x1b[1m\xef\xbb\xbf" P,
		"{\"x\":[1,2,{\"y\":\"}\"}],\n\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"}",
	};
	struct verdict v;

	for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
		for (size_t n = 0; n <= strlen(texts[t]); n++) {
			v = read_text(texts[t], n);
			ck_assert_int_eq(v.kind, n == strlen(texts[t]) ? VERDICT_PASS : VERDICT_NONE);
			verdict_release(&v);
		}
	}
}
END_TEST

static void repeat(struct buf *b, const char *text, size_t times)
{
	while (times-- > 0)
		buf_adds(b, text);
}

static void expect_buf(struct buf *b, enum verdict_kind kind, const char *word, const char *name)
{
	expect(read_text(b->data, b->size), kind, word, name);
	buf_release(b);
}

START_TEST(depth)
{
	struct buf b = { 0 };

	/* the outermost object is one of the 64 */
	buf_adds(&b, "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"x\":");
	repeat(&b, "[", 63);
	repeat(&b, "]", 63);
	buf_adds(&b, "}");
	expect_buf(&b, VERDICT_PASS, "ok", "64 deep");

	buf_adds(&b, "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"x\":");
	repeat(&b, "[", 64);
	repeat(&b, "]", 64);
	buf_adds(&b, "}");
	expect_buf(&b, VERDICT_NONE, BROKEN, "65 deep");

	repeat(&b, "{\"x\":", 65);
	buf_adds(&b, "1");
	repeat(&b, "}", 65);
	expect_buf(&b, VERDICT_NONE, BROKEN, "65 objects deep");

	buf_adds(&b, "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\",\"x\":\"");
	repeat(&b, "[{", 5000);
	buf_adds(&b, "\"}");
	expect_buf(&b, VERDICT_PASS, "ok", "depth in a string");
}
END_TEST

START_TEST(bounds)
{
	struct buf b = { 0 };
	struct verdict v;

	repeat(&b, "All is well so far.\n", 100000);
	buf_adds(&b, P);
	expect_buf(&b, VERDICT_PASS, "ok", "2 MB of prose before");

	buf_adds(&b, P "\n");
	repeat(&b, "And so on and so on.\n", 20000);
	expect_buf(&b, VERDICT_NONE, NO_OBJECT, "a verdict before the window is not read");

	buf_adds(&b, D "\n");
	repeat(&b, "And so on and so on.\n", 20000);
	buf_adds(&b, P);
	expect_buf(&b, VERDICT_NONE, CONFLICT, "a verdict before the window might disagree");

	buf_adds(&b, K "\n");
	repeat(&b, "And so on and so on.\n", 20000);
	buf_adds(&b, P);
	expect_buf(&b, VERDICT_PASS, "ok", "another object before the window does not matter");

	repeat(&b, K "\n", 200);
	buf_adds(&b, P);
	expect_buf(&b, VERDICT_PASS, "ok", "the last of 201 objects");

	buf_adds(&b, D "\n");
	repeat(&b, K "\n", 200);
	buf_adds(&b, P);
	expect_buf(&b, VERDICT_NONE, CONFLICT, "a verdict before the last 64 objects might disagree");

	buf_adds(&b, P "\n");
	repeat(&b, K "\n", 64);
	expect_buf(&b, VERDICT_NONE, VERDICT("nothing"), "a verdict before the last 64 objects is not read");

	buf_adds(&b, P "\n");
	repeat(&b, K "\n", 63);
	expect_buf(&b, VERDICT_PASS, "ok", "a verdict among the last 64 objects");

	buf_adds(&b, "{\"verdict\":\"pass\",\"followUpPrompt\":\"");
	repeat(&b, "x", EXTRACT_WINDOW);
	buf_adds(&b, "\"}");
	expect_buf(&b, VERDICT_NONE, BROKEN, "an object larger than the window");

	repeat(&b, "see {x} ", 200);
	buf_adds(&b, P);
	expect_buf(&b, VERDICT_PASS, "ok", "inline behind 200 braces");

	buf_adds(&b, "{\"verdict\":\"drift\",\"followUpPrompt\":\"");
	repeat(&b, "x", 200000);
	buf_adds(&b, "\"}");
	v = read_text(b.data, b.size);
	ck_assert_int_eq(v.kind, VERDICT_FINDINGS);
	ck_assert_uint_eq(strlen(v.feedback), 200000);
	verdict_release(&v);
	buf_release(&b);
}
END_TEST

/* The window begins inside an object, at every distance around its parts. */
START_TEST(cut_inside_an_object)
{
	static const char *const heads[] = {
		/* whole at the end */
		"{\"verdict\":\"drift\",\"followUpPrompt\":\"a\",\"x\":[\n",
		"{\"verdict\":\"drift\",\"x\":[\n",				/* never balanced */
		"So: {\"verdict\":\"drift\",\"x\":[",				/* inline */
		"[{\"verdict\":\"drift\"},\n",					/* an array */
	};
	static const char *const tails[] = { P, P "\n]}", "\n" P "\n", "\"\n" P, P "]", P "\n]}\n" P };

	for (size_t h = 0; h < sizeof(heads) / sizeof(heads[0]); h++) {
		for (size_t t = 0; t < sizeof(tails) / sizeof(tails[0]); t++) {
			for (int shift = -60; shift <= 60; shift += 3) {
				struct buf b = { 0 };
				struct verdict v;
				size_t fill = (size_t)((int)EXTRACT_WINDOW - (int)strlen(tails[t]) + shift) / 2;

				buf_adds(&b, heads[h]);
				repeat(&b, "1,", fill);
				buf_adds(&b, "\n");
				buf_adds(&b, tails[t]);
				v = read_text(b.data, b.size);
				ck_assert_msg(v.kind != VERDICT_PASS, "head %zu, tail %zu, shift %d", h, t, shift);
				verdict_release(&v);
				buf_release(&b);
			}
		}
	}
}
END_TEST

/* A reader that had to drop bytes marks the place, so that what was inside an object is
 * never taken for one. */
START_TEST(text_with_a_gap)
{
	struct reader *r = reader_new(READER_TEXT);
	struct agent_result result;

	reader_feed(r, "{\"verdict\":\"drift\",\"x\":[\n", 24);
	reader_gap(r);
	reader_feed(r, "\n" P "\n", sizeof(P) + 1);
	reader_end(r, &result);
	ck_assert(result.truncated);
	expect(read_text(result.text, result.size), VERDICT_NONE, BROKEN, "gap");
	agent_result_release(&result);
}
END_TEST

START_TEST(file_wins)
{
	struct verdict_input in = { .text = P, .text_size = strlen(P), .file = D, .file_size = strlen(D) };
	struct verdict v;

	verdict_read(CARRIER_VERDICT, &in, &v);
	ck_assert_str_eq(v.source, "file");
	expect(v, VERDICT_FINDINGS, "mend it", "file");

	in.file = "{\"verdict\":";
	in.file_size = strlen(in.file);
	verdict_read(CARRIER_VERDICT, &in, &v);
	ck_assert_str_eq(v.source, "file");
	expect(v, VERDICT_NONE, BROKEN, "a broken file is no reason to look at the text");

	in.file = "\n";
	in.file_size = 1;
	verdict_read(CARRIER_VERDICT, &in, &v);
	expect(v, VERDICT_NONE, EMPTY, "a blank file is not empty");

	in.file_size = 0;
	verdict_read(CARRIER_VERDICT, &in, &v);
	ck_assert_str_eq(v.source, "text");
	expect(v, VERDICT_PASS, "ok", "empty file");

	in = (struct verdict_input){ 0 };
	verdict_read(CARRIER_VERDICT, &in, &v);
	ck_assert_ptr_null(v.source);
	expect(v, VERDICT_NONE, EMPTY, "nothing at all");
}
END_TEST

static double seconds(const char *unit, const char *tail, size_t size)
{
	struct buf b = { 0 };
	struct timespec a, z;
	struct verdict v;
	double best = INFINITY;

	while (b.size < size)
		buf_adds(&b, unit);
	buf_adds(&b, tail);
	for (int i = 0; i < 5; i++) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		v = read_text(b.data, b.size);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &z);
		verdict_release(&v);
		best = fmin(best, (double)(z.tv_sec - a.tv_sec) + (double)(z.tv_nsec - a.tv_nsec) / 1e9);
	}
	buf_release(&b);
	return best;
}

static const struct {
	const char *unit, *tail;
} costly[] = {
	{ "{", "" }, { "{\n", "" }, { "\n{", "" }, { "[", "" }, { "[\n", "" }, { "\n[ ", "" },
	{ "[ \n{", "" }, { "{}", "" },
	{ "{}\n", "" }, { "{\"a\":", "" }, { "{\"a\":[1,1,", "" }, { "\"", "" }, { "\\", "" },
	{ "{\\", "" }, { "`", "" },
	{ "```", "" }, { "```\n", "" }, { "```a ", "" }, { "~~~{", "" }, { "\x1b", "" },
	{ "\x1b[", "" }, { "\x1b]", "" },
	{ "\x1b]a", "" }, { "x", "" }, { "{\"verdict\":1}\n", "" }, { "{\"verdict\":", "" },
	{ "x {", "" }, { "x {}", "" },
	{ "{\"\n", "" }, { "}", "{" }, { " ", "x" }, { "\n", "{}" }, { "[1,", "" }, { "\"verdict\n", "{}" },
};

/* Four times the bytes may take four times as long, and a generous bit; a quadratic reader takes
 * sixteen times. Inside the window objects are parsed, behind it they are only passed over, so both
 * halves are compared. */
START_TEST(linear)
{
	const char *unit = costly[_i].unit, *tail = costly[_i].tail;
	double small = fmax(seconds(unit, tail, 64 * 1024), 20e-6);
	double large = fmax(seconds(unit, tail, 256 * 1024 - 64), 20e-6);
	double huge = seconds(unit, tail, 1024 * 1024);

	ck_assert_msg(large < 10 * small, "unit %d: %g s for 64 KiB, %g s for 256 KiB", _i, small, large);
	ck_assert_msg(huge < 10 * large, "unit %d: %g s for 256 KiB, %g s for 1 MiB", _i, large, huge);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verdict");
	TCase *tcase = tcase_create("verdict");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, table, 0, ROWS);
	tcase_add_test(tcase, prefixes);
	tcase_add_test(tcase, depth);
	tcase_add_test(tcase, bounds);
	tcase_add_test(tcase, cut_inside_an_object);
	tcase_add_test(tcase, text_with_a_gap);
	tcase_add_test(tcase, file_wins);
	tcase_add_loop_test(tcase, linear, 0, sizeof(costly) / sizeof(costly[0]));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
