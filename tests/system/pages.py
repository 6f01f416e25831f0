# SPDX-License-Identifier: MIT
"""Runs that are worth a page: a panel that disagrees and findings in a diff; many tasks of which
one failed and one is held. Used by test_pages.py and by tests/screenshots."""
import json

from rld import Play

PARSER = """\
/* Durations as people write them. */
#include "duration.h"

#include <stdlib.h>

static long seconds_of(char unit)
{
\treturn unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
}

long duration(const char *text)
{
\tchar *unit;
\tlong number = strtol(text, &unit, 10);

\tif (unit == text || seconds_of(*unit) == 0 || unit[1] != '\\0')
\t\treturn -1;
\treturn number * seconds_of(*unit);
}
"""

FIRST = """\
python3 - <<'END'
text = open("duration.c").read()
at = text.index("long duration")
open("duration.c", "w").write(text[:at] + '''long duration(const char *text)
{
\\tlong sum = 0;

\\tif (*text == '\\\\0')
\\t\\treturn -1;
\\twhile (*text != '\\\\0') {
\\t\\tchar *unit;
\\t\\tlong number = strtol(text, &unit, 10);

\\t\\tsum += number * seconds_of(*unit);
\\t\\ttext = unit + 1;
\\t}
\\treturn sum;
}
''')
END
"""

GUARD = """\
python3 - <<'END'
text = open("duration.c").read()
guard = "\\t\\tif (unit == text || seconds_of(*unit) == 0)\\n\\t\\t\\treturn -1;\\n"
open("duration.c", "w").write(text.replace("\\t\\tsum += number", guard + "\\t\\tsum += number"))
END
"""

LIMIT = """\
python3 - <<'END'
text = open("duration.c").read()
open("duration.c", "w").write(text.replace("\\twhile (*text", "\\t/* of at most LONG_MAX seconds */\\n\\twhile (*text"))
END
"""


def costs(cost, text, tokens):
    """A script that prints what Claude Code would."""
    usage = {"input_tokens": tokens[0], "cache_read_input_tokens": tokens[1], "output_tokens": tokens[2]}
    line = {"type": "result", "subtype": "success", "is_error": False, "result": text, "session_id": "s",
            "usage": usage, "permission_denials": [], "total_cost_usd": cost}
    return f"cat <<'EOF'\n{json.dumps(line)}\nEOF\n"


def comments(*items, summary="Read the diff and ran the tests."):
    """A reviewer that writes these: (severity, file, line, text)."""
    text = json.dumps({"summary": summary, "comments": [
        {"severity": s, "file": f, "line": n, "comment": t} for s, f, n, t in items]})
    return f"cat > review-comments.json <<'END'\n{text}\nEND\n"


NUMBER = ("A number without a unit behind it is accepted: `duration(\"1h30\")` is 3630, expected -1. When "
          "`*unit` is NUL, `seconds_of` gives 0 and `text = unit + 1` reads beyond the end of the string.")
OVERFLOW = "`number * seconds_of(*unit)` overflows for large numbers; the header promises -1 for what is no duration."
NAME = "`sum` could be named `seconds`, as in the header."


def panel(make_daemon, repo, tmp_path, pace=""):
    """A run that passes in its second review, by two votes of three. pace: a line in front of each
    script."""
    repo.write("duration.c", PARSER)
    repo.write("duration.h", "/* Seconds in a text such as \"90s\" or \"1h30m\"; -1 when it is no duration. */\n"
               "long duration(const char *text);\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "A duration parser")
    said = {"claude": {"review.1": pace + comments(("must-fix", "duration.c", 22, NUMBER),
                                                   ("suggestion", "duration.c", 13, NAME)) +
                       costs(0.31, "Review finished.", (18200, 90100, 2100)),
                       "review": pace + comments() + costs(0.12, "Looks right now.", (9100, 88000, 800))},
            "codex": {"review.1": pace + comments(("must-fix", "duration.c", 22, NUMBER)),
                      "review": pace + comments()},
            "gemini": {"review.1": pace + pace + comments(("must-fix", "duration.c", 22, OVERFLOW)),
                       "review": pace + pace + comments(("must-fix", "duration.c", 24, OVERFLOW))}}
    daemon = make_daemon(start=False, scripts={
        "implement": pace * 3 + FIRST + costs(0.84, "Durations of several parts are summed up.", (30100, 210000, 6400)),
        "fix.1": pace * 2 + GUARD + costs(0.35, "A number without a unit is refused now.", (12300, 101000, 1900)),
        "fix": pace + LIMIT + costs(0.21, "The limit is named where it matters.", (11800, 96000, 700))})
    votes = {name: Play(tmp_path / f"{name}.votes", scripts) for name, scripts in said.items()}
    daemon.write_config({
        "default_agent": "play", "agent.play": {"reader": "claude", "account": "anthropic"},
        **{f"agent.{name}": {"command": votes[name].command(), "reader": "claude" if name == "claude" else "text",
                             "account": {"claude": "anthropic", "codex": "openai", "gemini": "google"}[name],
                             "writable": [str(votes[name].path)]} for name in votes},
        "review": {"reviewers": list(votes), "quorum": "majority", "profile": "comments"}})
    daemon.start()
    run = daemon.review(repo.path, task="Accept durations of several parts, such as 1h30m\n\nThe header says what a "
                        "duration is. A text that is none gives -1; there is a table of cases in test.c, add to it.",
                        checks=["grep -q duration duration.h", "cc -Wall -Werror -c -o /dev/null duration.c"])
    return daemon, run


TITLES = ("Parse amounts in cents", "Refuse dates that do not exist", "Sum up the invoice", "Print the address block",
          "Round taxes half up", "Number invoices without a gap", "Export to CSV", "Read the exchange rates",
          "Send a reminder after 30 days", "Archive paid invoices", "Show the totals of a year", "Translate the letter")

MANY = {
    "implement": 'echo "$RL_TASK_ID" > "$RL_TASK_ID.txt"\n[ "$RL_TASK_ID" != T-07 ] || exit 3\nanswer done\n',
    "review": 'case $RL_TASK_ID.$RL_REVIEW_ROUND in\n'
    'T-0[39].*) drift "$RL_TASK_ID is only half done: the file has one line, and the story asks for two." ;;\n'
    'T-0[25].1) drift "The letter of $RL_TASK_ID has no greeting." ;;\n*) pass ;;\nesac\n',
    "fix": 'echo "fixed $RL_ATTEMPT" >> "$RL_TASK_ID.txt"\nanswer fixed\n',
}


def many(make_daemon, repo, count=12, pace="", **given):
    """A run of stories in four slots: most pass, T-07 fails, T-03 and T-09 are held."""
    daemon = make_daemon(scripts={name: pace + script for name, script in MANY.items()}, config={"parallel": 4})
    stories = {"project": "invoices", "description": "d", "userStories": [
        {"id": f"T-{i + 1:02}", "title": TITLES[i % len(TITLES)], "description": "d", "acceptanceCriteria": [],
         "priority": i, "passes": False} for i in range(count)]}
    run = daemon.review(repo.path, task=None, stories=json.dumps(stories), isolation="worktree", parallel=4,
                        on_failure="continue", review={"max_fixes": 1, "on_exhausted": "hold"}, **given)
    return daemon, run
