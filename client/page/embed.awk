# SPDX-License-Identifier: MIT
# Turns client/page/page.css into build/gen/page.c, the text that client/page/style.h declares.
BEGIN {
	print "/* Made by client/page/embed.awk from client/page/page.css: do not edit. */"
	print "#include \"client/page/style.h\"\n"
	print "const char page_style[] ="
}
FNR == 1 || /^[ \t]*$/ { next }
{
	sub(/^[ \t]+/, "")
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	printf "\t\"%s\\n\"\n", $0
}
END { print "\t;" }
