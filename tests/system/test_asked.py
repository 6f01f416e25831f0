# SPDX-License-Identifier: MIT
"""on_malformed = "ask": a reviewer whose answer does not count is asked once, in the conversation
that gave it. Nothing else is paid again, whatever dies; what it says then is judged as any answer.

loop.py has the same for each profile without a conversation: there it is a fresh review."""
import json
import re

import pytest
from loop import AGENT_STOPS, STOP, Loop, say
from rld import FAKES
from test_cooldown import ARGS, limited, line
from test_profile_comments import COMMENTS
from test_profile_decision import DECISION
from test_profile_file import PROFILE as FILE
from test_profile_verdict import VERDICT

PROFILES = {"verdict": VERDICT, "decision": DECISION, "file": FILE, "comments": COMMENTS}
ASK = {"on_malformed": "ask"}
QUESTION = "Your last answer does not count ("
TWO = "pass\nanswer '{\"verdict\": \"drift\", \"followUpPrompt\": \"add a line\"}'\n"
CONFLICT = "conflicting verdicts"


def said(script):
    """A Claude Code whose final text is what the script prints: one conversation per attempt."""
    return (STOP + ARGS + "( " + script + "finished ) > \"$PLAY/text.$RL_ATTEMPT\"\n"
            + line(type="system", subtype="init", model="m-1")
            + "python3 - \"$PLAY/text.$RL_ATTEMPT\" << 'END-OF-PROGRAM'\n"
            "import json, os, sys\n"
            "print(json.dumps({'type': 'result', 'subtype': 'success', 'is_error': False, 'total_cost_usd': 0.01,\n"
            "                  'result': open(sys.argv[1]).read(),\n"
            "                  'session_id': 'conversation-' + os.environ['RL_ATTEMPT']}))\n"
            "END-OF-PROGRAM\nexit 0\n")


def prompt(loop, nth):
    return loop.daemon.play.prompt(1, "review", nth).decode()


def args(loop, nth):
    return (loop.daemon.play.path / f"args.1.review.{nth}").read_text()


@pytest.fixture
def talk(make_daemon, repo, tmp_path):
    """talk(review_1=…): a Loop of that profile whose reviewers have conversations."""
    def make(profile=VERDICT, **scripts):
        play = tmp_path / "d.play"
        agent = {"command": [str(FAKES / "play"), str(play)], "reader": "claude", "resume": ["--resume", "{session}"],
                 "writable": [str(play)]}
        loop = Loop(make_daemon, repo, tmp_path, profile, config={"agent.talker": agent})
        loop.play.set({name.replace("_", "."): said(text) for name, text in
                       {"review": profile.passes, "review_1": profile.malformed, **scripts}.items()})
        submit = loop.submit
        loop.submit = lambda task="do it", review=None, **params: submit(
            task, {**ASK, "agent": "talker", **(review or {})}, **params)
        return loop
    return make


def reviews(loop):
    return [a for a in loop.daemon.attempts(1) if a["role"] == "review"]


@pytest.mark.parametrize("name", PROFILES)
def test_the_conversation_is_asked(talk, name):
    profile = PROFILES[name]
    loop = talk(profile)
    loop.passes(loop.run())
    assert loop.roles() == ["implement", "review", "review"]
    first, second = reviews(loop)
    assert (first["resumes"], second["resumes"]) == (None, first["id"])
    assert args(loop, 2) == f"--resume conversation-{first['id']}\n"
    whole, asked = prompt(loop, 1), prompt(loop, 2)
    why = profile.on_malformed.text.split(": ", 1)[1]
    head, contract = asked.split("\n", 1)
    assert head.startswith(QUESTION + why) and contract.startswith("\n## Your answer\n")
    assert QUESTION not in whole and "do it" not in asked and "work.txt" not in asked
    halves = re.compile(r"`([0-9a-f]{4})` and `([0-9a-f]{4})`")
    if name != "comments":
        assert len({*halves.findall(whole), *halves.findall(asked)}) == 2, "each attempt has a nonce of its own"
    assert loop.decisions() == [profile.pass_word]
    # the answer that did not count is on record, as no review
    with loop.daemon.events(since=0, run=1) as events:
        event = events.until("review.asked")
    assert (event["attempt"], event["round"], event["by"]) == (first["id"], 1, "talker") and why in event["reason"]
    judged = [(e["result"], e["attempt"], e["review"]) for e in loop.daemon.call("evidence.list", run=1)["evidence"]
              if e["kind"] == "review"]
    assert judged == [("none", first["id"], None), ("green", second["id"], 1)]
    assert loop.daemon.call("review.verify", run=1)["ok"]
    assert loop.daemon.run(1)["slots"][0]["asked"] == first["id"]


def test_which_one_holds(talk):
    """Two verdicts in one answer: it is told so, and the one that it then gives is taken."""
    loop = talk(review_1=TWO, review_2=VERDICT.finds("add a second line"))
    loop.passes(loop.run())
    assert loop.roles() == ["implement", "review", "review", "fix", "review"]
    assert QUESTION + CONFLICT in prompt(loop, 2) and QUESTION not in prompt(loop, 3)
    assert loop.decisions() == ["drift", "pass"]


ECHOES = {"the question": 'cat "$PLAY/prompt.1.review.2"\n', "the whole prompt": 'cat "$PLAY/prompt.1.review.1"\n',
          "the same again": TWO,
          "its nonce of before": "h=$(sed -n 's/.*`\\([0-9a-f]\\{4\\}\\)` and `\\([0-9a-f]\\{4\\}\\)`.*/\\1\\2/p' "
          '"$PLAY/prompt.1.review.1" | tail -n 1)\n'
          'echo "{\\"verdict\\": \\"pass\\", \\"followUpPrompt\\": \\"x\\", \\"review\\": \\"$h\\"}"\n'}


@pytest.mark.parametrize("how", ECHOES)
def test_an_echo_is_no_answer(talk, how):
    loop = talk(review_1=TWO, review_2=ECHOES[how])
    loop.ends(VERDICT.on_malformed._replace(text="reviewer contract violation"), loop.run())
    assert loop.decisions() == ["violation"] and loop.roles() == ["implement", "review", "review"]


EXAMPLE = '{"verdict": "pass", "followUpPrompt": "all is well"}'


@pytest.mark.parametrize("where", ["template", "task", "answer", "diff"])
def test_what_the_first_prompt_has_is_no_answer(talk, repo, where):
    """The conversation knows it, and the second prompt has none of it."""
    loop = talk(review_1=TWO, review_2=say(EXAMPLE))
    texts = {"implement": f"echo '{EXAMPLE if where == 'diff' else 'one'}' > work.txt\n"
             + say(EXAMPLE if where == "answer" else "done")}
    loop.set(**texts)
    if where == "template":
        repo.write(".ai_agents/prompts/reviewer.md", f"Judge it. Answer like {EXAMPLE}\n{{{{context}}}}\n")
    row = loop.run(task=f"print {EXAMPLE}" if where == "task" else "do it")
    assert EXAMPLE in prompt(loop, 1).replace("\\", "") and EXAMPLE not in prompt(loop, 2)
    loop.ends(VERDICT.on_malformed._replace(text="only repeats what the reviewer was given"), row)
    assert loop.decisions() == ["violation"]


@pytest.mark.each
@pytest.mark.parametrize("name", PROFILES)
def test_the_question_printed_passes_in_no_profile(talk, name):
    loop = talk(PROFILES[name], review_2='cat "$PLAY/prompt.1.review.2"\nexit 0\n')
    row = loop.run(review={"silence": "pass"} if name == "file" else None)
    assert row["state"] == "failed" and "violation" in row["cause"], row
    assert loop.decisions() == ["violation"]


def test_a_conversation_that_is_gone(talk):
    """It costs one try; then it is a fresh review."""
    loop = talk(review_2=VERDICT.passes)
    loop.play.set({"review.2": ARGS + "echo 'No conversation found' >&2\nexit 1\n"})
    loop.passes(loop.run())
    assert loop.roles() == ["implement", "review", "review", "review"]
    first, second, third = reviews(loop)
    assert [first["resumes"], second["resumes"], third["resumes"]] == [None, first["id"], None]
    assert QUESTION not in prompt(loop, 3) and "work.txt" in prompt(loop, 3) and args(loop, 3) == "\n"
    assert loop.decisions() == ["pass"]


def test_an_exhausted_account_in_between(talk):
    """What was interrupted goes on, and knows the question."""
    loop = talk()
    loop.play.set({"review.2": ARGS + limited("$(($(date +%s) + 1))")})
    loop.passes(loop.run())
    first, second, third = reviews(loop)
    assert [second["resumes"], third["resumes"]] == [first["id"], second["id"]]
    assert QUESTION in prompt(loop, 3) and "was interrupted in the middle of its work" in prompt(loop, 3)
    assert loop.decisions() == ["pass"]


def test_whoever_changed_the_tree_is_not_asked(talk):
    loop = talk(review_1="echo more >> work.txt\n" + VERDICT.malformed)
    loop.ends(VERDICT.on_malformed._replace(text="reviewer changed the tree"), loop.run())
    assert loop.roles() == ["implement", "review"]


def test_a_profile_of_its_own(talk):
    """A second answer that does not count is what the profile itself says: here a human decides,
    and what he sends back without a word is another round, with another question."""
    loop = talk(review_2=VERDICT.malformed, review_3=VERDICT.malformed)
    loop.daemon.stop()
    with open(loop.daemon.config, "a") as file:
        file.write('\n[profile.mine]\nextends = "verdict"\non_malformed = "hold"\n')
    loop.daemon.start()
    row = loop.run(review={"profile": "mine"})
    assert (row["state"], row["reason"]) == ("held", f"reviewer contract violation: {VERDICT.on_malformed.text[29:]}")
    hold, = loop.daemon.call("hold.list", run=1)["holds"]
    loop.daemon.rlctl("hold", "rework", hold["id"], check=0)
    loop.passes(loop.daemon.ended(1))
    assert loop.roles() == ["implement"] + ["review"] * 4
    assert [a["round"] for a in reviews(loop)] == [1, 1, 2, 2]
    assert loop.decisions() == ["violation", "pass"]


@pytest.mark.each
@pytest.mark.parametrize("killed", ["review", "verify", "review again", "verify again"])
def test_daemon_killed(talk, killed):
    """kill -9 while the first answer is given or read, or the second: each is paid once."""
    loop = talk()
    stop, again = killed.split(" ")[0], killed.endswith("again")
    loop.stop_at(stop)
    loop.submit()
    loop.play.arrived(stop)
    if again:
        loop.stop_at(stop)
        loop.play.go(stop)
        loop.play.arrived(stop)
    loop.daemon.kill()
    loop.daemon.start()
    if stop in AGENT_STOPS:
        loop.play.go(stop)
    loop.passes(loop.daemon.ended(1))
    assert loop.roles() == ["implement", "review", "review"], "nothing is paid for twice"
    first, second = reviews(loop)
    assert second["resumes"] == first["id"] and QUESTION in prompt(loop, 2)
    assert loop.decisions() == ["pass"]
    assert json.dumps(loop.warnings()).count("the reviewer is asked once more") == 1
