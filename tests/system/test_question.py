# SPDX-License-Identifier: MIT
"""on_question = "hold": a final text whose last paragraph begins with QUESTION: is a question to a
human. The work so far is a product and stays; the answer continues the conversation that asked, or
a fresh attempt is given both. Nothing is paid twice, whatever dies."""
import pytest
from loop import Loop, say
from rld import FAKES, Repo, RpcError, user_name
from test_asked import said
from test_rolling import stories
from test_profile_comments import COMMENTS
from test_profile_decision import DECISION
from test_profile_verdict import VERDICT

WHAT = "A or B? I would take A."
ASK = say(f"I have begun.\n\nQUESTION: {WHAT}")
HOLD = {"on_question": "hold"}
ANSWER = "Take B.\nIt is older."
LEAD = "A human answers your question. Continue your work from where you stopped.\n\n"


def human():
    return f"human:{user_name()}"


@pytest.fixture
def made(make_daemon, repo, tmp_path):
    """Its implementer asks after the first line."""
    made = Loop(make_daemon, repo, tmp_path, VERDICT)
    made.always_content()
    made.set(implement_1="echo one > work.txt\n" + ASK, implement="echo two >> work.txt\nanswer done\n")
    return made


@pytest.fixture
def talk(make_daemon, repo, tmp_path):
    """The same with a program that has conversations; talk(role=script, …)."""
    def make(profile=VERDICT, **scripts):
        play = tmp_path / "d.play"
        agent = {"command": [str(FAKES / "play"), str(play)], "reader": "claude", "resume": ["--resume", "{session}"],
                 "writable": [str(play)]}
        made = Loop(make_daemon, repo, tmp_path, profile, config={"agent.talker": agent})
        made.always_content()
        scripts = scripts or {"implement_1": "echo one > work.txt\n" + ASK,
                              "implement": "echo two >> work.txt\necho done\n"}
        made.play.set({name.replace("_", "."): said(text) for name, text in scripts.items()})
        submit = made.submit
        made.submit = lambda task="do it", review=None, **params: submit(
            task, {**HOLD, "agent": "play", **(review or {})}, agent="talker", **params)
        return made
    return make


def held(made, number=1, **params):
    """Submit, unless it is there, and wait for the question: the hold."""
    if number == 1:
        made.submit(**params)
    row = made.daemon.ended(number)
    assert row["state"] == "held", row
    hold, = row["holds"]
    assert (hold["kind"], hold["reason"], hold["state"]) == ("question", WHAT, "open"), hold
    return hold


def answer(made, hold, message=ANSWER, **params):
    return made.daemon.call("hold.answer", id=hold["id"], message=message, **params)


def ends(made, number=1):
    """Not the hold that was just decided."""
    with made.daemon.events(since=0, run=number) as events:
        events.until("run.state", lambda e: e["state"] in ("succeeded", "failed", "cancelled"))
    return made.daemon.run(number)


def products(made, number=1):
    return [p["kind"] for p in made.daemon.call("product.list", run=number)["products"]]


def test_the_conversation_goes_on(talk):
    made = talk()
    hold = held(made)
    first, = made.daemon.attempts(1)
    assert hold["attempt"] == first["id"] and made.repo.read("work.txt") == "one\n"
    assert products(made) == ["base", "work"], "what there is, is a product"
    with made.daemon.events(since=0, run=1) as events:
        event = events.until("question")
        assert events.until("hold.opened")["kind"] == "question"
    assert (event["task"], event["attempt"], event["by"], event["question"]) == ("t1", first["id"], "talker", WHAT)
    assert made.daemon.run(1)["slots"][0]["question"] == WHAT
    assert answer(made, hold)["state"] in ("rework", "reworked")
    made.passes(ends(made))
    assert made.roles() == ["implement", "implement", "review"]
    first, second, _ = made.daemon.attempts(1)
    assert second["resumes"] == first["id"]
    assert (made.play.path / "args.1.implement.2").read_text() == f"--resume conversation-{first['id']}\n"
    assert made.prompt("implement", 2) == LEAD + ANSWER
    assert made.repo.read("work.txt") == "one\ntwo\n"
    assert made.daemon.run(1)["slots"][0]["question"] is None
    closed = made.daemon.call("hold.get", id=hold["id"])
    assert (closed["state"], closed["decided_by"], closed["message"]) == ("reworked", human(), ANSWER)
    assert made.daemon.call("review.verify", run=1)["ok"] is True
    assert [e["kind"] for e in made.daemon.call("evidence.list", run=1)["evidence"]] == ["review"], "it judges nothing"


def test_without_a_conversation(made):
    """A fresh attempt is told what was asked, and the answer."""
    answer(made, held(made, review=HOLD))
    made.passes(ends(made))
    assert made.roles() == ["implement", "implement", "review"]
    first, second = made.prompt("implement", 1), made.prompt("implement", 2)
    assert "do it" in second and "Nobody can answer" not in first + second
    assert "## If only a human can decide\n" in first and "An earlier question" not in first
    assert f"## An earlier question\n\nAn earlier attempt at this work has asked a human:\n\n```text\n{WHAT}\n```\n\n" \
           f"The answer:\n\n```text\n{ANSWER}\n```\n" in second
    assert made.repo.read("work.txt") == "one\ntwo\n"


def test_off_by_default(made):
    made.passes(made.run())
    assert made.roles() == ["implement", "review"]
    told = made.prompt("implement", 1)
    assert "QUESTION:" not in told and "Nobody can answer questions." in told


@pytest.mark.parametrize("profile", [VERDICT, DECISION, COMMENTS], ids=lambda p: p.name)
def test_a_fixer_asks(make_daemon, repo, tmp_path, profile):
    made = Loop(make_daemon, repo, tmp_path, profile)
    made.set(fix_1="echo half >> work.txt\n" + ASK, fix="echo fixed >> work.txt\nanswer fixed\n")
    hold = held(made, review=HOLD)
    assert made.roles() == ["implement", "review", "fix"] and len(made.decisions()) == 1
    answer(made, hold)
    made.passes(ends(made))
    assert made.roles() == ["implement", "review", "fix", "fix", "review"]
    assert [a["round"] for a in made.daemon.attempts(1) if a["role"] == "fix"] == [1, 1], "it is the same fix"
    assert ANSWER in made.prompt("fix", 2) and "add a second line" in made.prompt("fix", 2)
    assert made.repo.read("work.txt") == "one\nhalf\nfixed\n"


def test_a_fixer_asks_in_its_conversation(talk):
    made = talk(fix_1=ASK, fix="echo fixed >> work.txt\necho fixed\n", implement="echo one > work.txt\necho done\n")
    made.set(review_1=VERDICT.finds("add a line"))
    answer(made, held(made))
    made.passes(ends(made))
    assert made.prompt("fix", 2) == LEAD + ANSWER


def test_it_may_ask_again(talk):
    made = talk(implement_1=ASK, implement_2=ASK, implement="echo one > work.txt\necho done\n")
    answer(made, held(made))
    with made.daemon.events(since=0, run=1) as events:
        second = events.until("hold.opened", lambda e: e["hold"] == 2)
    answer(made, {"id": second["hold"]})
    made.passes(ends(made))
    assert made.roles() == ["implement"] * 3 + ["review"]
    first, second, third, _ = made.daemon.attempts(1)
    assert (second["resumes"], third["resumes"]) == (first["id"], second["id"])


def test_approve(made):
    """The work is accepted as it is."""
    hold = held(made, review=HOLD, commit="auto")
    made.daemon.call("hold.approve", id=hold["id"], message="enough")
    row = ends(made)
    assert (row["state"], row["end_kind"], row["result_ref"]) == ("succeeded", "approved", None), row
    assert made.roles() == ["implement"] and made.decisions() == ["accepted"]
    assert made.repo.git("show", f"{row['result_commit']}:work.txt") == "one"


def test_reject(made):
    hold = held(made, review=HOLD)
    made.daemon.call("hold.reject", id=hold["id"], message="no")
    row = ends(made)
    assert (row["state"], row["end_kind"]) == ("failed", "rejected"), row


@pytest.mark.parametrize("message", [None, "be quick"])
def test_rework(talk, message):
    """Nobody answers: a new conversation decides by itself, on the work that there is."""
    made = talk()
    hold = held(made)
    made.daemon.call("hold.rework", id=hold["id"], message=message)
    made.passes(ends(made))
    assert made.roles() == ["implement", "implement", "review"]
    assert made.daemon.attempts(1)[1]["resumes"] is None
    told = made.prompt("implement", 2)
    assert f"```text\n{WHAT}\n```\n\nNobody has answered that. Decide it yourself" in told
    assert ("be quick" in told) == (message is not None)
    assert made.repo.read("work.txt") == "one\ntwo\n"


def test_refusals(make_daemon, repo, tmp_path):
    made = Loop(make_daemon, repo, tmp_path, VERDICT)
    made.never_content()
    made.submit(review={"max_fixes": 0, "on_exhausted": "hold"})
    other = made.daemon.ended(1)["holds"][0]
    with pytest.raises(RpcError, match="nothing was asked"):
        answer(made, other)
    made.play.set({"implement.1": ASK})
    number = made.daemon.review(Repo(tmp_path / "r").path, "do it", review={"profile": "verdict", **HOLD})
    hold = made.daemon.ended(number)["holds"][0]
    with pytest.raises(RpcError, match="an answer needs a text"):
        answer(made, hold, " \n")
    answer(made, hold, check=True)
    assert made.daemon.run(number)["state"] == "held"
    answer(made, hold)
    with pytest.raises(RpcError, match="decided already|needs no decision"):
        answer(made, hold)


@pytest.mark.parametrize("stop", ["implement", "measure", "held", "answered"])
def test_it_outlives_the_daemon(talk, stop):
    made = talk(implement_1="echo one > work.txt\n" + ASK, implement="echo two >> work.txt\necho done\n")
    if stop in ("implement", "measure"):
        made.submit_to(stop)
        made.daemon.kill()
        made.daemon.start()
        if stop == "implement":
            made.play.go(stop)
        hold = made.daemon.ended(1)["holds"][0]
    else:
        hold = held(made)
    if stop == "held":
        made.daemon.kill()
        made.daemon.start()
    if stop == "answered":
        made.stop_at("implement")
    answer(made, hold)
    if stop == "answered":
        made.play.arrived("implement")
        made.daemon.kill()
        made.daemon.start()
        made.play.go("implement")
    made.passes(ends(made))
    assert made.roles() == ["implement", "implement", "review"] and products(made) == ["base", "work", "work", "result"]
    assert made.prompt("implement", 2) == LEAD + ANSWER


def test_the_answered_attempt_is_lost(talk):
    """Its successor goes on in the same conversation, and has the answer, too."""
    made = talk(implement_1="echo one > work.txt\n" + ASK, implement_2="kill -9 $PPID\nsleep 100\n",
                implement="echo two >> work.txt\necho done\n")
    answer(made, held(made, on_lost="retry"))
    made.passes(ends(made))
    assert made.roles() == ["implement"] * 3 + ["review"]
    assert made.prompt("implement", 3).endswith(LEAD + ANSWER)


@pytest.mark.parametrize("how", ["cancel", "reject"])
def test_a_retry_asks_again(made, how):
    """The work is there, and nothing is paid before there is an answer."""
    hold = held(made, review=HOLD)
    if how == "cancel":
        made.daemon.cancelled(1)
    else:
        made.daemon.call("hold.reject", id=hold["id"])
    number = made.daemon.call("run.retry", id=1)["id"]
    made.play.set({"implement.1": "echo two >> work.txt\nanswer done\n"})
    hold = held(made, number)
    assert made.daemon.attempts(number) == []
    answer(made, hold)
    row = ends(made, number)
    assert row["state"] == "succeeded", row
    assert [a["role"] for a in made.daemon.attempts(number)] == ["implement", "review"]
    assert f"The answer:\n\n```text\n{ANSWER}\n```" in made.prompt("implement", 1, number)
    assert made.repo.read("work.txt") == "one\ntwo\n"


@pytest.mark.each
@pytest.mark.parametrize("end", ["exit 3", "kill -9 $PPID; sleep 100", "cancelled"])
@pytest.mark.parametrize("role", ["implement", "fix"])
def test_a_retry_has_the_answer(made, role, end):
    """Nobody is asked what he has answered, whatever became of the attempts that had the answer."""
    fails = {f"{role}_1": "echo one > work.txt\n" + ASK, f"{role}_2": f"gate {role}\n{end}\n"}
    made.set(review_1=VERDICT.finds("point 1") if role == "fix" else VERDICT.passes,
             **{"implement_1": "echo none > work.txt\nanswer done\n", **fails})
    answer(made, held(made, review=HOLD, on_lost="fail"))
    made.play.arrived(role)
    if end == "cancelled":
        made.daemon.cancelled(1)
    else:
        made.play.go(role)
        assert ends(made)["state"] == "failed"
    made.play.set({f"{role}.1": "exit 4\n"})
    number = made.daemon.call("run.retry", id=1)["id"]
    assert made.daemon.ended(number)["state"] == "failed"
    number = made.daemon.call("run.retry", id=number)["id"]
    made.play.set({f"{role}.1": "echo two >> work.txt\nanswer done\n", f"{role}.2": "exit 4\n",
                   "review.1": VERDICT.passes})
    made.passes(made.daemon.ended(number))
    assert [a["role"] for a in made.daemon.attempts(number)] == [role, "review"]
    for each in (number - 1, number):
        assert f"The answer:\n\n```text\n{ANSWER}\n```" in made.prompt(role, 1, each)
    assert made.repo.read("work.txt") == "one\ntwo\n"


def test_in_work_trees(made):
    """Other tasks go on meanwhile, and the work tree stays."""
    made.set(implement_2="echo other > other.txt\nanswer done\n", implement="echo two >> work.txt\nanswer done\n")
    made.daemon.review(made.repo.path, None, review={"profile": "verdict", **HOLD}, stories=stories("s1", "s2"),
                       isolation="worktree", commit="auto")
    row = made.daemon.ended(1)
    hold, = row["holds"]
    assert row["state"] == "held" and hold["task"] == "s1", row
    answer(made, hold)
    assert ends(made)["state"] == "succeeded"
    assert [(a["role"], a["task"]) for a in made.daemon.attempts(1)] == [
        ("implement", "s1"), ("implement", "s2"), ("review", "s2"), ("implement", "s1"), ("review", "s1")]


def test_without_git(made, tmp_path):
    """Nor a review."""
    (tmp_path / "plain").mkdir()
    made.daemon.submit(tmp_path / "plain", review=HOLD)
    hold = made.daemon.ended(1)["holds"][0]
    assert (hold["kind"], hold["reason"]) == ("question", WHAT)
    answer(made, hold)
    assert ends(made)["state"] == "succeeded"
    assert made.roles() == ["implement", "implement"]
    assert (tmp_path / "plain" / "work.txt").read_text() == "one\ntwo\n"


def test_on_the_command_line(made):
    rlctl = made.daemon.rlctl
    rlctl("submit", "--review=verdict", "--on-question", "hold", "do it", cwd=made.repo.path, check=0)
    hold = made.daemon.ended(1)["holds"][0]
    assert "next    rlctl hold answer 1/t1 -m TEXT, approve 1, rework 1, or reject 1" in \
        rlctl("hold", "show", hold["id"], check=0).stdout.decode()
    assert "missing answer" in rlctl("hold", "answer", 1, check=2).stderr.decode()
    assert "run 1 asks nothing for task t2" in rlctl("hold", "answer", "1/t2", "-m", "x", check=1).stderr.decode()
    told = rlctl("hold", "answer", "1/t1", "-m", "-", input=ANSWER.encode(), check=0)
    assert told.stderr.decode().startswith(f"Hold {hold['id']}: answered. "), told
    made.passes(ends(made))
    assert ANSWER in made.prompt("implement", 2)
    assert "run 1 asks nothing" in rlctl("hold", "answer", 1, "-m", "x", check=1).stderr.decode()


def test_agents_cannot_answer(make_daemon, repo, tmp_path):
    from test_agent_access import Asked, refused
    made = Asked(make_daemon, repo, tmp_path, VERDICT)
    made.always_content()
    made.set(implement_1=ASK)
    held(made, review=HOLD)
    script = made.script("asked", ("hold.answer", {"id": 1, "message": "yes"}), ("hold.get", {"id": 1}))
    made.set(implement_1=script + "answer done\n")
    made.daemon.ended(made.daemon.review(Repo(tmp_path / "r").path, "do it", review={"profile": "verdict"}))
    assert refused(made.said("asked")[0])
    assert made.daemon.call("hold.get", id=1)["state"] == "open"
