# SPDX-License-Identifier: MIT
# Turns the files of sql/ into build/gen/sql.c (store/sql.h). What is wrong with them becomes an #error there.

function complain(text) {
	printf "#error \"%s:%d: %s\"\n", FILENAME, FNR, text
}

function begin_file() {
	file = FILENAME
	sub(/.*\//, "", file)
	migration = file ~ /^[0-9][0-9][0-9][0-9]-.*\.sql$/
	current = 0
	if (migration) {
		migrations++
		if (substr(file, 1, 4) + 0 != migrations)
			complain("migrations are numbered 0001, 0002, ... without a gap")
		migration_name[migrations] = file
	}
}

function begin_statement() {
	if ($3 == "" || (NF > 3 && ($4 != "rows:" || NF != 5)))
		complain("expected -- name: NAME, -- name: NAME rows: TYPE or -- once: NAME")
	if ($3 in seen)
		complain("a second statement named " $3)
	seen[$3] = 1
	current = ++statements
	statement_name[current] = $3
	statement_once[current] = $2 == "once:" ? "true" : "false"
	statement_rows[current] = $5 == "" ? "NULL" : "\"" $5 "\""
}

function quoted(line) {
	gsub(/\\/, "\\\\", line)
	gsub(/"/, "\\\"", line)
	return "\t  \"" line "\\n\"\n"
}

BEGIN {
	print "/* Made by daemon/store/embed.awk from sql/: do not edit. */"
	print "#include \"store/sql.h\""
}

FNR == 1 { begin_file() }

!migration && /^-- (name|once):/ { begin_statement(); next }

/^[ \t]*(--.*)?$/ { next }

migration { migration_text[migrations] = migration_text[migrations] quoted($0); next }

current == 0 { complain("a line before the first -- name: or -- once:"); next }

{ statement_text[current] = statement_text[current] quoted($0) }

END {
	print "\nconst struct sql_migration sql_migrations[] = {"
	for (i = 1; i <= migrations; i++)
		printf "\t{ \"%s\",\n%s\t},\n", migration_name[i], migration_text[i]
	print "};\nconst size_t sql_migrations_count = sizeof(sql_migrations) / sizeof(sql_migrations[0]);"
	print "\nconst struct sql_statement sql_statements[] = {"
	for (i = 1; i <= statements; i++)
		printf "\t{ \"%s\", %s, %s,\n%s\t},\n", statement_name[i], statement_once[i], statement_rows[i],
		    statement_text[i]
	print "};\nconst size_t sql_statements_count = sizeof(sql_statements) / sizeof(sql_statements[0]);"
}
