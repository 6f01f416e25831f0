# SPDX-License-Identifier: MIT
# For a machine that does not see the directories of this one: takes the files of an attempt there,
# and brings its work back. rsync copies, and git packs the history; both may be repeated at
# any point. The same file is on both machines.
#
#	sh copy go          here: start the agent, wait for news of it, bring them
#	sh copy end         here: end the agent, bring its work
#	sh copy look SIZES UMASK
#	                    there: start it or look how it is, wait for other sizes of its output,
#	                    print far
#	sh copy stop        there: end it, print far
#	sh copy drop        there: remove all of it
#	sh copy undo        there: likewise, unless it was started
#
# Before this text, job/copy_script.c sets D, the directory of the attempt; W, the top of its work
# tree; SCRATCH, a directory for temporary files, or ""; WRITES, 1 if its work is the tree; and
# functions: there executes a command line on the machine; prepare is one that makes the directories
# there; quoted is the name of this file as a word of one; send_files; fetch_answer.
MASK=$(umask)
umask 077
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR
P=$D/place

FAILED=75	# as rl-shim --far has it
WAIT=40		# half seconds that a connection waits for news

say() { echo "rld: $*" >&2; }
# beside the output of the agent, when it has ended
tell() { echo "rld: $*" >> said; }
# by content: two files of one size and one second may differ
copy() { rsync -rlptHcs -e 'sh shell' "$@" 9>&-; }
sizes() { stat -c %s std* 2> /dev/null | tr '\n' ' '; }
head_of() { git -C "$1" rev-parse -q --verify HEAD; }
packed() { git --git-dir=git/.git "$@"; }

# ---- there ----

# What it has left, in a form that can be taken: a directory that its owner may not read, too.
open_up() {
	[ -d "$W" ] || : > gone
	find "$W" -type d ! -perm -700 -exec chmod u+rwx {} \; 2> /dev/null
	find "$W" -type f ! -perm -400 -exec chmod u+r {} + 2> /dev/null
	cat ../far
}

look() {
	(umask "$2" && exec sh start) >&2 < /dev/null || exit
	n=0
	while [ $n -lt $WAIT ] && [ "$(sizes)" = "$1" ] && ! grep -qs '^ended' ../far; do
		sleep 0.5
		n=$((n + 1))
	done
	if grep -qs '^ended' ../far; then open_up; else cat ../far; fi
}

stop() {
	sh end >&2 < /dev/null && open_up
}

drop() {
	# here after all?
	[ ! -e ../../../rld.db ] && cd / || exit
	find "$W" -type d ! -perm -700 -exec chmod u+rwx {} \; 2> /dev/null
	rm -rf "$W" ${SCRATCH:+"$SCRATCH"} "$D"
	rmdir "${W%/*}" ${SCRATCH:+"${SCRATCH%/*}"} 2> /dev/null
	exit 0
}

undo() {
	[ ! -e ../../../rld.db ] || exit
	ln -s revoked claim 2> /dev/null || [ "$(readlink claim)" = revoked ] || exit 0
	drop
}

# ---- here: to it ----

# A repository of its own, with the last commits and the branch of the work tree.
pack() {
	rm -rf git sent
	[ -e "$W/.git" ] && tip=$(head_of "$W") || return 0
	git init -q --template= --object-format="$(git -C "$W" rev-parse --show-object-format)" git &&
	    packed fetch -q --no-tags --depth=100 "$W" HEAD || return
	case $RL_BASE_REF in
	refs/*) packed fetch -q --no-tags --depth=100 "$W" "+$RL_BASE_REF:$RL_BASE_REF" ;;
	?*) packed fetch -q --no-tags --depth=100 "$W" "$RL_BASE_REF" ;;
	esac || return
	if branch=$(git -C "$W" symbolic-ref -q HEAD); then
		packed symbolic-ref HEAD "$branch"
		packed update-ref HEAD "$tip"
	else
		packed update-ref --no-deref HEAD "$tip"
	fi || return
	for key in user.name user.email core.autocrlf core.eol; do
		value=$(git -C "$W" config --get "$key") && packed config "$key" "$value"
	done
	mkdir git/.git/info
	for file in exclude attributes; do
		cat "$(git -C "$W" rev-parse --path-format=absolute --git-path info/$file)" > git/.git/info/$file 2> /dev/null
	done
	packed --work-tree="$W" read-tree HEAD && echo "$tip" > sent
}

put() {
	command -v rsync > /dev/null || { say "rsync is not installed here"; return 1; }
	there "$(prepare) rld $(cat /etc/machine-id 2> /dev/null || uname -n)" < /dev/null && : > begun &&
	    pack && send_files && copy --delete --exclude=/.git "$W/" "node:$W/" &&
	    { [ ! -d git ] || copy --delete git/.git/ "node:$W/.git/"; }
}

# ---- here: from it ----

# What the status file there has and the one here lacks.
note() {
	[ -n "$1" ] || return 0
	n=$(wc -c < ../far)
	printf '%s\n' "$1" | tail -c +$((n + 1)) >> ../far && sync ../far
}

# Output and record.
news() {
	copy --size-only --no-perms --no-times --no-links --inplace --delete --include=/exit --include=/gone \
	    --include='/std*' --exclude='*' "node:$P/" ./
}

leave() {
	[ ! -e begun ] || there "test ! -e $(quoted) || sh $(quoted) $1" < /dev/null
}

# HEAD and the branches there that lead to commits, and to nothing that is missing.
whole() {
	{ echo HEAD; packed for-each-ref --format='%(refname)' refs/heads; } 2> /dev/null | while read -r ref; do
		packed rev-list --objects --quiet "$ref^{commit}" -- > /dev/null 2>&1
		case $? in
		0) echo "$ref" ;;
		128) ;;
		*) exit 1 ;;
		esac
	done
}

# Under this lock only a process that was killed can have left one.
unlock() {
	own=$(git -C "$W" rev-parse --absolute-git-dir) && rm -f "$own/index.lock" "$own/HEAD.lock"
}

# Its commits, its branches, and where its HEAD is; nothing there that git obeys.
commits() {
	[ -f sent ] || return 0
	copy --no-links --delete --exclude=/.git/objects/info --include=/.git/ --include=/.git/HEAD \
	    --include=/.git/packed-refs --include=/.git/shallow --include='/.git/refs/***' \
	    --include='/.git/objects/***' --exclude='*' "node:$W/" git/ || return
	refs=$(whole) || return
	[ -n "$refs" ] || { tell "its repository there is damaged; its files are here"; return 0; }
	printf '%s\n' "$refs" | git -C "$W" fetch -q --no-tags \
	    --no-write-fetch-head --no-auto-gc --no-recurse-submodules --stdin "$P/git/.git" || return
	printf '%s\n' "$refs" | grep ^refs/ | while read -r ref; do
		git -C "$W" update-ref "$ref" "$(packed rev-parse "$ref")" "" 2> /dev/null
	done
	case $refs in
	HEAD*) move_head ;;
	esac && sync -f "$(git -C "$W" rev-parse --path-format=absolute --git-common-dir)"
}

move_head() {
	tip=$(packed rev-parse HEAD)
	[ "$tip" != "$(cat sent)" ] || return 0
	unlock || return
	if [ "$tip" = "$(head_of "$W")" ]; then
		:
	elif [ "$(packed symbolic-ref -q HEAD)" = "$(git -C "$W" symbolic-ref -q HEAD)" ]; then
		git -C "$W" update-ref HEAD "$tip" "$(cat sent)"
	else
		git -C "$W" update-ref --no-deref HEAD "$tip"
	fi && git -C "$W" read-tree HEAD
}

tree() {
	[ $WRITES = 1 ] || return 0
	[ ! -e gone ] || { tell "its work tree there is gone; the one here is as it was"; return 0; }
	copy --delete --exclude=/.git "node:$W/" "$W/" && commits
}

# All of an agent that has ended. Then nothing there is needed any more, and only then the status
# file here may say that it has ended.
bring() {
	if [ ! -f home ]; then
		rm -f said
		tree && fetch_answer && sync -f "$W" && printf '%s\n' "$1" > home.new && sync home.new &&
		    mv home.new home && sync . && rm -rf git || return
	fi
	leave drop || tell "its copies may be left there, in $W and $D"
	note "$(cat home)"
}

# ---- here ----

lock() {
	exec 9> lock
	flock 9
}

go() {
	if [ ! -h claim ]; then
		# who follows the agent may have been killed meanwhile
		put && kill -0 $PPID && ln -s copied claim || exit $FAILED
		have=-
	elif [ "$(readlink claim)" = revoked ]; then
		say "it is not to be started any more"
		exit $FAILED
	else
		have=$(sizes)
	fi
	if [ ! -f home ]; then
		# without it, another one could begin after a power cut
		sync . && far=$(there "sh $(quoted) look '$have' $MASK" < /dev/null) || exit
		rm -f start
	fi
	lock
	[ -f home ] || news || exit $FAILED
	case $far in
	*"
ended "*) bring "$far" || exit $FAILED ;;
	*) if [ -f home ]; then bring; else note "$far"; fi ;;
	esac
}

end() {
	if ln -s revoked claim 2> /dev/null || [ "$(readlink claim)" = revoked ]; then
		leave undo
		exit 0
	fi
	if [ ! -f home ]; then
		far=$(there "sh $(quoted) stop" < /dev/null) || exit 1
	fi
	lock
	if [ -f home ]; then
		bring
	elif [ -z "$far" ]; then
		# its claim was free, or nothing had begun
		ln -sfn revoked claim
		leave drop
	else
		news && bring "$far"
	fi || exit 1
}

cd "$P" || { say "$P is gone"; exit $FAILED; }
"$@"
exit
