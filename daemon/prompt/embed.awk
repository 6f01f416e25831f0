# SPDX-License-Identifier: MIT
# Turns Markdown files into build/gen/templates.c, the table that prompt/template.h declares.
BEGIN {
	print "/* Made by daemon/prompt/embed.awk from daemon/prompt/templates. */"
	print "#include <stddef.h>\n\n#include \"prompt/template.h\"\n"
	print "const struct template prompt_templates[] = {"
}
FNR == 1 {
	finish()
	name = FILENAME
	sub(/.*\//, "", name)
	printf "\t{ \"%s\",\n", name
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	gsub(/\t/, "\\t")
	printf "\t  \"%s\\n\"\n", $0
}
END {
	finish()
	print "\t{ NULL, NULL },"
	print "};"
}
function finish()
{
	if (name != "")
		print "\t},"
}
