# SPDX-License-Identifier: MIT
# Turns a file, such as client/page/page.css, into a text of C, without its indentation:
# awk -v name=page_style -v header=client/page/style.h -f client/page/embed.awk FILE
FNR == 1 {
	printf "/* Made by client/page/embed.awk from %s: do not edit. */\n", FILENAME
	printf "#include \"%s\"\n\nconst char %s[] =\n", header, name
	next
}
/^[ \t]*$/ { next }
{
	sub(/^[ \t]+/, "")
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	printf "\t\"%s\\n\"\n", $0
}
END { print "\t;" }
