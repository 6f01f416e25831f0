/* SPDX-License-Identifier: MIT */
/* rlctl completion: scripts for shells, and the words that they offer. The scripts only ask for the
 * words, so all shells offer the same, from the tables of this program and from the daemon. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/completion_words.h"
#include "proto/memory.h"

/* A line is a word, with a tab and what it means, or one of these two. */
#define FILES ":files"
#define DIRECTORIES ":directories"

static const struct {
	const char *shell, *script;
} scripts[] = {
	{ "bash",
	    "# bash completion of rlctl; to use it: source <(rlctl completion bash)\n"
	    "_rlctl() {\n"
	    "	local line current=${COMP_WORDS[COMP_CWORD]} IFS=$'\\n'\n"
	    "	[ \"$current\" != = ] || current=\n"
	    "	COMPREPLY=()\n"
	    "	while IFS= read -r line; do\n"
	    "		case $line in\n"
	    "		" FILES ") compopt -o filenames; COMPREPLY+=($(compgen -f -- \"$current\")) ;;\n"
	    "		" DIRECTORIES ") compopt -o filenames; COMPREPLY+=($(compgen -d -- \"$current\")) ;;\n"
	    "		*) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
	    "		esac\n"
	    "	done < <(\"${COMP_WORDS[0]}\" completion words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	    "}\n"
	    "complete -F _rlctl rlctl\n" },
	{ "zsh",
	    "#compdef rlctl\n"
	    "# zsh completion of rlctl; to use it: source <(rlctl completion zsh)\n"
	    "_rlctl() {\n"
	    "	local line word\n"
	    "	local -a found\n"
	    "	while IFS= read -r line; do\n"
	    "		word=${line%%$'\\t'*}\n"
	    "		case $line in\n"
	    "		" FILES ") _files ;;\n"
	    "		" DIRECTORIES ") _files -/ ;;\n"
	    "		*) found+=(\"${word//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
	    "		esac\n"
	    "	done < <(\"${words[1]}\" completion words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
	    "	(( ! $#found )) || _describe -V rlctl found\n"
	    "}\n"
	    "if [ \"$funcstack[1]\" = _rlctl ]; then _rlctl \"$@\"; else compdef _rlctl rlctl; fi\n" },
	{ "fish",
	    "# fish completion of rlctl; to use it: rlctl completion fish | source\n"
	    "function __rlctl_words\n"
	    "	set -l words (commandline -opc) (commandline -ct)\n"
	    "	for line in ($words[1] completion words -- $words[2..-1] 2>/dev/null)\n"
	    "		switch $line\n"
	    "		case " FILES "\n"
	    "			__fish_complete_path (commandline -ct)\n"
	    "		case " DIRECTORIES "\n"
	    "			__fish_complete_directories (commandline -ct) ''\n"
	    "		case '*'\n"
	    "			echo $line\n"
	    "		end\n"
	    "	end\n"
	    "end\n"
	    "complete -c rlctl -f -k -a '(__rlctl_words)'\n" },
};

static int print_words(struct client *c)
{
	/* never start a daemon for a key */
	json_object_set_new(c->options.values, "no-start", json_true());
	completion_words(c, c->options.arguments + 1, (size_t)c->options.count - 1);
	return EXIT_DONE;
}

static int print_script(struct client *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++)
		if (strcmp(scripts[i].shell, c->options.arguments[0]) == 0)
			fputs(scripts[i].script, c->out.file);
	return EXIT_DONE;
}

int completion_command(struct client *c)
{
	static const struct client_action actions[] = {
		{ "bash", 1, 1, print_script }, { "zsh", 1, 1, print_script }, { "fish", 1, 1, print_script },
		{ "words", 1, 1 << 20, print_words },
	};

	return client_act(c, actions, ARRAY_SIZE(actions));
}
