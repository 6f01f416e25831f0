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
# by content: two files of one size and one second may differ
copy() { rsync -rlptHcs -e 'sh shell' "$@" 9>&-; }
sizes() { stat -c %s std* 2> /dev/null | tr '\n' ' '; }
head_of() { git -C "$1" rev-parse -q --verify HEAD; }

# ---- there ----

look() {
	(umask "$2" && exec sh start) >&2 < /dev/null || exit
	n=0
	while [ $n -lt $WAIT ] && [ "$(sizes)" = "$1" ] && ! grep -qs '^ended' ../far; do
		sleep 0.5
		n=$((n + 1))
	done
	cat ../far
}

stop() {
	sh end >&2 < /dev/null && cat ../far
}

drop() {
	cd / || exit
	find "$W" -type d ! -perm -700 -exec chmod u+rwx {} + 2> /dev/null
	rm -rf "$W" ${SCRATCH:+"$SCRATCH"} "$D"
	rmdir "${W%/*}" ${SCRATCH:+"${SCRATCH%/*}"} 2> /dev/null
	exit 0
}

# ---- here: to it ----

# A repository of its own, with the last commits and the branch of the work tree.
pack() {
	rm -rf git sent
	[ -e "$W/.git" ] && sent=$(head_of "$W") || return 0
	git init -q --bare --template= git && git -C git config core.bare false &&
	    git -C git fetch -q --no-tags --depth=100 "$W" HEAD || return
	case $RL_BASE_REF in
	refs/*) git -C git fetch -q --no-tags --depth=100 "$W" "+$RL_BASE_REF:$RL_BASE_REF" ;;
	?*) git -C git fetch -q --no-tags --depth=100 "$W" "$RL_BASE_REF" ;;
	esac || return
	if branch=$(git -C "$W" symbolic-ref -q HEAD); then
		git -C git symbolic-ref HEAD "$branch"
		git -C git update-ref HEAD "$sent"
	else
		git -C git update-ref --no-deref HEAD "$sent"
	fi || return
	for key in user.name user.email core.autocrlf core.eol; do
		value=$(git -C "$W" config --get "$key") && git -C git config "$key" "$value"
	done
	git --git-dir=git --work-tree="$W" read-tree HEAD && echo "$sent" > sent
}

put() {
	command -v rsync > /dev/null || { say "rsync is not installed here"; return 1; }
	there "$(prepare)" < /dev/null && pack && send_files &&
	    copy --delete --exclude=/.git "$W/" "node:$W/" &&
	    { [ ! -d git ] || copy --delete git/ "node:$W/.git/"; }
}

# ---- here: from it ----

# What the status file there has and the one here lacks.
note() {
	[ -n "$1" ] || return 0
	n=$(wc -l < ../far)
	printf '%s\n' "$1" | tail -n +$((n + 1)) >> ../far
	sync ../far
}

# Output and record.
news() {
	copy --size-only --no-perms --no-times --inplace --delete --include=/exit --include='/std*' --exclude='*' \
	    "node:$P/" ./
}

leave() {
	there "test ! -e $(quoted) || sh $(quoted) drop" < /dev/null
}

# Its commits, its branches, and where its HEAD is.
commits() {
	[ -f sent ] || return 0
	sent=$(cat sent)
	copy --delete --exclude=/config --exclude=/hooks "node:$W/.git/" git/ || return
	tip=$(head_of git) || { say "HEAD of its work tree there names no commit; its files are here"; return 0; }
	{ echo HEAD; git -C git for-each-ref --format='%(refname)' refs/heads/; } |
	    git -C "$W" fetch -q --no-tags --no-auto-maintenance --stdin "$P/git" || return
	git -C git for-each-ref --format='%(objectname) %(refname)' refs/heads/ | while read -r id ref; do
		# one that is new
		git -C "$W" update-ref "$ref" "$id" "" 2> /dev/null
	done
	[ "$tip" = "$(head_of "$W")" ] && return
	if [ "$(git -C git symbolic-ref -q HEAD)" = "$(git -C "$W" symbolic-ref -q HEAD)" ]; then
		git -C "$W" update-ref HEAD "$tip" "$sent"
	else
		git -C "$W" update-ref --no-deref HEAD "$tip"
	fi && git -C "$W" read-tree HEAD
}

tree() {
	[ $WRITES = 0 ] || { copy --delete --exclude=/.git "node:$W/" "$W/" && commits; }
}

# All of an agent that has ended. Then nothing there is needed any more, and only then the status
# file here may say that it has ended.
bring() {
	if [ ! -f home ]; then
		tree && fetch_answer && sync -f "$W" && printf '%s\n' "$1" > home.new && sync home.new &&
		    mv home.new home && rm -rf git || return
	fi
	leave || say "its copies may be left there, in $W and $D"
	note "$(cat home)"
}

# ---- here ----

lock() {
	exec 9> lock
	flock 9
}

go() {
	if [ ! -h claim ]; then
		put && ln -s copied claim || exit $FAILED
		have=-
	elif [ "$(readlink claim)" = revoked ]; then
		say "it is not to be started any more"
		exit $FAILED
	else
		have=$(sizes)
	fi
	if [ ! -f home ]; then
		far=$(there "sh $(quoted) look '$have' $MASK" < /dev/null) || exit
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
		leave
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
		leave
	else
		news && bring "$far"
	fi || exit 1
}

cd "$P" || { say "$P is gone"; exit $FAILED; }
"$@"
exit
