# SPDX-License-Identifier: MIT
"""A review file that another process of the reviewer replaces by rename, up to the end: one of its
versions is the review, whole, and what is recorded is what was judged."""
import json
import textwrap

import pytest
from loop import Loop, say
from test_profile_comments import COMMENTS
from test_profile_comments import FILE as COMMENTS_FILE
from test_profile_file import ACCOUNT, FILE
from test_profile_file import PROFILE as FILES

# renamer NAME SPARE READY TEXT...: it stops by itself.
RENAMER = textwrap.dedent("""\
    #!/usr/bin/python3
    import os, sys, time
    name, spare, ready, *texts = sys.argv[1:]
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for text in texts:
            with open(spare, "w") as file:
                file.write(text)
            os.rename(spare, name)
        if ready:
            open(ready, "w").close()
            ready = None
    """)
LONG = "x" * 3000
TEXTS = {
    "file": [f"- [ ] work.txt:1: {word} {LONG}\n" for word in ("one", "two")],
    "comments": [json.dumps({"comments": [{"file": "work.txt", "line": 1, "severity": "must-fix",
                                           "comment": f"{word} {LONG}"}], "summary": "1"}) for word in ("one", "two")],
}
PROFILES = {"file": (FILES, FILE), "comments": (COMMENTS, COMMENTS_FILE)}


@pytest.mark.parametrize("name", PROFILES)
def test_a_file_that_is_renamed_to_the_end(make_daemon, repo, tmp_path, name):
    profile, file = PROFILES[name]
    loop = Loop(make_daemon, repo, tmp_path, profile)
    play = loop.play.path
    (play / "renamer").write_text(RENAMER)
    words = " ".join(f"'{text}'" for text in TEXTS[name])
    script = (f"mkfifo {play}/ready.$RL_ATTEMPT\n"
              f"(setsid env -i /usr/bin/python3 {play}/renamer \"$PWD/{file}\" {play}/spare.$RL_ATTEMPT "
              f"{play}/ready.$RL_ATTEMPT {words} < /dev/null > /dev/null 2>&1 &)\n"
              f"timeout 30 cat {play}/ready.$RL_ATTEMPT\n" + say(ACCOUNT))
    loop.set(review=script, review_1=script)
    for run in range(1, 4):
        loop.run(review={"max_fixes": 0, "read_only": False})
        row, = loop.daemon.call("review.list", run=run)["reviews"]
        assert row["decision"] == profile.findings_word, row
        finding, = row["findings"]
        assert finding["text"].split()[0] in ("one", "two") and len(set(finding["text"][4:])) == 1, finding
        assert loop.daemon.call("review.verify", run=run)["ok"]
