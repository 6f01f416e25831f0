#!/bin/sh
# SPDX-License-Identifier: MIT
# follow.sh SOCKET WORKDIR TASK: submit a task and print each event of its run once, in order, also over restarts and
# crashes of the daemon. Exits with 0 when the run has succeeded. Needs jq and socat.
set -eu
trap '' PIPE
socket=$1 since=null place=$(mktemp -d) pid=
trap 'rm -rf "$place"; kill $pid' EXIT
mkfifo "$place/to" "$place/from"
task=$(jq -cn --arg workdir "$2" --arg task "$3" --arg key "$(cat /proc/sys/kernel/random/uuid)" \
    '$ARGS.named + {environment: {PATH: env.PATH, HOME: env.HOME}}')

call() {
	jq -cn --arg method "$1" --argjson params "$2" '{jsonrpc: "2.0", id: $method, $method, $params}' >&3 || :
}

# A line as words: of an answer its id and members, of an error its message, of an event what it is.
words='if .error then if .error.data.retryable then "again" else "error " + .error.message end
    elif .result then [.id, .result.id, .result.seq] | map(tostring) | join(" ")
    else [.method, (.params | .seq, .type, .state)] | map(. // "" | tostring) | join(" ") end'

while :; do
	socat - "UNIX-CONNECT:$socket" < "$place/to" > "$place/from" 2> /dev/null &
	pid=$!
	exec 3> "$place/to" 4< "$place/from"
	call run.submit "$task"
	while read -r line <&4; do
		set -f -- $(printf '%s\n' "$line" | jq -r "$words")
		case $1 in
		run.submit)
			[ "$since" != null ] || since=$3
			call event.subscribe "{\"run\": $2, \"since\": $since}" ;;
		event) since=$2; echo "$2 $3 ${4:-}" ;;
		error) echo "$line" >&2; exit 1 ;;
		esac
		case $1.${3:-}.${4:-} in
		event.run.state.succeeded) exit 0 ;;
		event.run.state.failed | event.run.state.cancelled) exit 1 ;;
		esac
	done
	exec 3>&- 4<&-
	wait
	sleep 0.2
done
