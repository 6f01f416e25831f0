# SPDX-License-Identifier: MIT
"""Drivers of the review loop, the same for every profile. A profile's test file says in one Profile
how its reviewer speaks and what each bad end comes to, and gets all ends, a cancel and a death of
the daemon in each phase:

    class TestMatrix(loop.Matrix):
        profile = loop.Profile(name="verdict", passes="pass\\n", ...)

Its other tests take a Loop: a daemon, a repository and that profile's scripts.
`Loop.stop_at(WHERE)` lets the next process of that kind stand at a gate: an agent by its role, git
by what it is at (STOPS)."""
import dataclasses
import shlex
from typing import Callable, NamedTuple

import pytest
from rld import FAKES, proc_stat, wait_gone
from stops import Stops

# Where a run can be stopped, in the order of a run, and the phase that people see meanwhile.
AGENT_STOPS = {"implement": "implementing", "check": "checking", "review": "reviewing", "fix": "fixing"}
GIT_STOPS = {"measure": "implementing", "verify": "reviewing", "pin": "committing", "commit": "committing"}
STOPS = {**AGENT_STOPS, **GIT_STOPS}

# A git that stands at a gate when the test says so. The last agent tells what it is at.
GIT = """#!/bin/sh
PLAY={play}
at=
case $* in
*" update-ref "*refs/rl/*/passed/*) at=pin ;;
*" commit -q "*) at=commit ;;
*) case $(tail -n 1 "$PLAY/starts" | cut -d ' ' -f 2) in
	implement|check|fix) at=measure ;;
	review) at=verify ;;
	esac ;;
esac
if [ -n "$at" ] && rm "$PLAY/stop.$at" 2> /dev/null; then
	echo $$ > "$PLAY/$at.here"
	read -r word < "$PLAY/$at.go"
fi
exec /usr/bin/git "$@"
"""

STOP = 'if rm "$PLAY/stop.$role" 2> /dev/null; then gate "$role"; fi\n'


def say(text):
    """A script line that prints text; $nth is which attempt of its role it is."""
    return f"cat <<END-OF-ANSWER\n{text}\nEND-OF-ANSWER\n"


def write(name, text):
    """The same into a file."""
    return f"cat > {name} <<END-OF-FILE\n{text}\nEND-OF-FILE\n"


class End(NamedTuple):
    """How a run ends, or is held: its state, what stands in its cause (or reason), what rlctl
    wait exits with."""
    state: str
    text: str
    code: int


@dataclasses.dataclass(frozen=True)
class Profile:
    name: str
    passes: str				# script of a reviewer that is content
    # ... that asks for this, one finding; the text may hold $nth
    finds: Callable[[str], str]
    malformed: str			# ... that gives no verdict
    pass_word: str
    findings_word: str
    max_fixes: int			# the default
    on_malformed: End
    on_exit: End			# the reviewer exits with status 3
    on_signal: End			# ... is killed by signal 9
    on_timeout: End			# ... runs for longer than a second
    on_exhausted: End
    artifacts: tuple = ()		# what must be in no tree and no commit
    stops: tuple = ("implement", "check", "measure", "review", "verify", "fix", "pin")
    prepare: Callable = lambda loop: {}	# more [review] keys


class Loop(Stops):
    """A daemon with a repository; the first review finds something, the second is content."""

    def __init__(self, make_daemon, repo, tmp_path, profile, scripts=None, config=None, name="d", **kwargs):
        self.profile, self.repo = profile, repo
        play, tools = tmp_path / f"{name}.play", tmp_path / f"{name}.tools"
        tools.mkdir()
        (tools / "git").write_text(GIT.format(play=shlex.quote(str(play))))
        (tools / "git").chmod(0o755)
        config = {"limits": {"grace": "1s"}, **(config or {})}
        config["agent.play"] = {"writable": [str(play)], **config.get("agent.play", {})}
        self.daemon = make_daemon(name=name, scripts={**self.scripts(), **(scripts or {})}, gates=STOPS, config=config,
                                  environment={"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin"}, **kwargs)
        self.play = self.daemon.play
        # a command for `checks`: plays the script "check"
        self.check = f"{FAKES / 'play'} {shlex.quote(str(play))}"

    def scripts(self):
        return {"implement": STOP + "echo one > work.txt\nanswer 'first answer'\n", "check": STOP,
                "review.1": STOP + self.profile.finds("add a second line"), "review": STOP + self.profile.passes,
                "fix": STOP + "echo \"fix $nth\" >> work.txt\nanswer \"answer $nth\"\n"}

    def set(self, **scripts):
        """Replace scripts: set(review="…", review_1="…")."""
        self.play.set({name.replace("_", "."): STOP + text for name, text in scripts.items()})

    def never_content(self):
        self.set(review_1=self.profile.finds("point 1"), review=self.profile.finds("point $nth"))

    def always_content(self):
        self.set(review_1=self.profile.passes)

    def submit(self, task="do it", review=None, **params):
        review = {"profile": self.profile.name, **self.profile.prepare(self), **(review or {})}
        return self.daemon.review(self.repo.path, task, review=review, **params)

    def run(self, task="do it", review=None, **params):
        """Submit and wait: the row of the run."""
        return self.daemon.ended(self.submit(task, review, **params))

    def roles(self):
        """What was started, in order, checks aside."""
        return [s[1] for s in self.play.starts() if s[1] != "check"]

    def decisions(self, number=1):
        return [r["decision"] for r in self.daemon.reviews(number)]

    def prompt(self, role, nth=1, number=1):
        return self.play.prompt(number, role, nth).decode()

    def passed_refs(self):
        return self.repo.git("for-each-ref", "--format=%(refname)", self.daemon.ref("passed")).split()

    def warnings(self, number=1):
        return self.daemon.run(number)["warnings"]

    def phases(self, number=1):
        """Of the slots with a task."""
        return {s["slot"]: s["phase"] for s in self.daemon.run(number)["slots"] if s["slot"] != 65535}

    # what has to hold

    def ends(self, end, row):
        """The run ended so, and not by a verdict: nothing is locked."""
        said = row["reason"] if row["state"] == "held" else row["cause"]
        assert (row["state"], row["result_ref"]) == (end.state, None), row
        assert end.text in said, said
        assert self.passed_refs() == []
        self.daemon.rlctl("wait", row["id"], check=end.code)

    def passes(self, row):
        """The run ended by a verdict: what was reviewed is locked, and only that."""
        ref = self.daemon.ref("passed", row["id"], "t1")
        assert (row["state"], row["cause"], row["result_ref"]) == ("succeeded", None, ref), row
        assert self.passed_refs() == [ref]
        names = self.repo.git("ls-tree", "-r", "--name-only", ref).split("\n")
        assert "work.txt" in names and not set(names) & set(self.profile.artifacts), names
        assert self.repo.git("cat-file", "-t", ref) == "tree"
        assert self.repo.git("show", f"{ref}:work.txt") == self.repo.read("work.txt").strip()
        self.daemon.rlctl("wait", row["id"], check=0)


class Matrix:
    """Every way in which a run of the profile can end. What a profile has not, its class sets to
    None: test_malformed = None"""
    profile: Profile

    def pytest_generate_tests(self, metafunc):
        if "stop" in metafunc.fixturenames:
            metafunc.parametrize("stop", self.profile.stops)
        if "agent_stop" in metafunc.fixturenames:
            metafunc.parametrize("agent_stop", [s for s in self.profile.stops if s in AGENT_STOPS])

    @pytest.fixture
    def loop(self, make_daemon, repo, tmp_path):
        return Loop(make_daemon, repo, tmp_path, self.profile)

    def test_pass_first(self, loop):
        loop.always_content()
        loop.passes(loop.run())
        assert loop.roles() == ["implement", "review"]
        assert loop.decisions() == [self.profile.pass_word]

    def test_findings_then_pass(self, loop):
        loop.passes(loop.run())
        assert loop.roles() == ["implement", "review", "fix", "review"]
        assert loop.decisions() == [self.profile.findings_word, self.profile.pass_word]
        assert loop.repo.read("work.txt") == "one\nfix 1\n"

    def test_exhausted(self, loop):
        loop.never_content()
        loop.ends(self.profile.on_exhausted, loop.run())
        assert loop.roles() == ["implement", "review"] + ["fix", "review"] * self.profile.max_fixes
        assert loop.decisions() == [self.profile.findings_word] * (self.profile.max_fixes + 1)

    def test_malformed(self, loop):
        loop.set(review_1=self.profile.malformed)
        loop.ends(self.profile.on_malformed, loop.run())
        assert loop.roles() == ["implement", "review"], "neither fixed nor asked again"
        assert loop.decisions() == ["violation"]

    def test_malformed_after_a_fix(self, loop):
        """What was well before is no evidence for what is under review now."""
        loop.set(review=self.profile.malformed)
        loop.ends(self.profile.on_malformed, loop.run())
        assert loop.roles() == ["implement", "review", "fix", "review"]
        assert loop.decisions() == [self.profile.findings_word, "violation"]

    def test_malformed_and_asked(self, loop):
        """The review is paid once more, the work is not."""
        loop.set(review_1=self.profile.malformed)
        loop.passes(loop.run(review={"on_malformed": "ask"}))
        assert loop.roles() == ["implement", "review", "review"]
        assert loop.decisions() == [self.profile.pass_word]
        asked, = [w for w in loop.warnings() if "the reviewer is asked once more" in w]
        assert "review 1 has no valid answer" in asked and self.profile.on_malformed.text.split(": ", 1)[1] in asked

    def test_malformed_once_more(self, loop):
        """Whoever is asked in vain is as the profile says, and asked again in the next round."""
        loop.set(review_1=self.profile.malformed, review=self.profile.malformed, review_2=self.profile.finds("more"))
        loop.ends(self.profile.on_malformed, loop.run(review={"on_malformed": "ask"}))
        assert loop.roles() == ["implement", "review", "review", "fix", "review", "review"]
        assert loop.decisions() == [self.profile.findings_word, "violation"]
        assert [(a["round"], a["outcome"]) for a in loop.daemon.attempts(1)
                if a["role"] == "review"] == [(1, "done"), (1, "done"), (2, "done"), (2, "done")]

    @pytest.mark.parametrize("how", ["exit", "signal"])
    def test_reviewer_crash(self, loop, how):
        """Whatever it said before."""
        loop.set(review_1=self.profile.passes + {"exit": "exit 3\n", "signal": "kill -9 $$\n"}[how])
        loop.ends(getattr(self.profile, f"on_{how}"), loop.run())
        assert loop.roles() == ["implement", "review"]
        assert loop.decisions() == ["error"]

    def test_reviewer_timeout(self, loop):
        loop.set(review_1=self.profile.passes + "gate review\n")
        loop.ends(self.profile.on_timeout, loop.run(review={"timeout": "1s"}))
        assert loop.roles() == ["implement", "review"]
        assert loop.decisions() == ["error"]

    @pytest.mark.parametrize("crash,cause", [("exit 4", "fixer process exited with status 4"),
                                             ("kill -9 $$", "fixer process killed by signal 9")])
    def test_fixer_crash(self, loop, crash, cause):
        loop.set(fix=f"echo half >> work.txt\n{crash}\n")
        loop.ends(End("failed", cause, 10), loop.run())
        assert loop.roles() == ["implement", "review", "fix"]

    def test_cancel(self, loop, stop):
        head = loop.repo.state()
        number, _ = loop.submit_to(stop, check_on_base="skip", review={"checks": [loop.check]})
        before = loop.roles()
        # where the whole run is reviewed, each task is measured before anybody reviews
        assert ({STOPS[stop]} | ({"implementing"} if stop == "measure" else set())) & set(loop.phases().values())
        loop.daemon.call("run.cancel", id=number)
        row = loop.daemon.ended(number)
        assert row["state"] == "cancelled" and row["result_ref"] is None, row
        assert set(loop.phases().values()) == {"cancelled"}
        assert loop.roles() == before, "nothing is started after a cancel"
        # what is pinned is committed before, and a commit of the user's own repository
        # is not taken back
        assert loop.repo.state() == head or (stop == "pin" and row["result_commit"] is not None)
        loop.daemon.rlctl("wait", number, check=11)

    def goes_on(self, loop):
        row = loop.daemon.ended(1)
        loop.passes(row)
        assert loop.roles() == ["implement", "review", "fix", "review"], "nothing is paid for twice"
        assert loop.decisions() == [self.profile.findings_word, self.profile.pass_word]
        assert loop.repo.read("work.txt") == "one\nfix 1\n"

    def test_daemon_killed(self, loop, stop):
        """kill -9 while it is there; what runs goes on without, and is taken back.
        git begins again."""
        loop.submit_to(stop, check_on_base="skip", review={"checks": [loop.check]})
        loop.daemon.kill()
        loop.daemon.start()
        if stop in AGENT_STOPS:
            assert STOPS[stop] in loop.phases().values()
            loop.play.go(stop)
        self.goes_on(loop)

    def test_daemon_killed_and_the_agent_ends_meanwhile(self, loop, agent_stop):
        _, pid = loop.submit_to(agent_stop, check_on_base="skip", review={"checks": [loop.check]})
        shim = proc_stat(pid)[1]
        loop.daemon.kill()
        loop.play.go(agent_stop)
        wait_gone(shim)
        loop.daemon.start()
        self.goes_on(loop)
