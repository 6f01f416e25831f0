# SPDX-License-Identifier: MIT
"""review.escalate: the next model after each review that does not pass."""
from rld import DRIFT_THEN_PASS

LIMIT = '{"type": "turn.failed", "error": {"message": "You have hit your usage limit. Try again in 3 hours."}}'
SAW = 'echo "$RL_ROLE $RL_MODEL $2" >> "$PLAY/saw"\n'
SCRIPTS = {"implement": SAW + DRIFT_THEN_PASS["implement"],
           "review": SAW + "[ $nth = 4 ] && pass || drift \"no $nth\"\n",
           "fix": SAW + 'echo "$nth" >> work.txt\n'}


def models(daemon, number):
    return [(a["role"], a["model"]) for a in daemon.attempts(number)]


def agent(daemon, **more):
    return {"command": [*daemon.play.command(), "{model}"], "reader": "text", "model": "own", **more}


def test_each_fix_has_the_next_model(make_daemon, repo):
    daemon = make_daemon(start=False, scripts=SCRIPTS)
    daemon.write_config({"agent.play": agent(daemon)})
    daemon.start()
    number = int(daemon.rlctl("submit", "--review=verdict", "--escalate", "small", "--escalate", "large", "do it",
                              cwd=repo.path).out)
    row = daemon.ended(number)
    assert row["state"] == "succeeded" and row["review"]["escalate"] == ["small", "large"], row
    want = [("implement", "small"), ("review", "own"), ("fix", "large"), ("review", "own"), ("fix", "large"),
            ("review", "own"), ("fix", "large"), ("review", "own")]
    assert models(daemon, number) == want
    saw = (daemon.play.path / "saw").read_text().splitlines()
    assert saw == [f"{role} {model} {model}" for role, model in want], "the variable, and the command"


def test_without_a_review_nothing_escalates(make_daemon, repo):
    daemon = make_daemon(start=False, scripts=SCRIPTS)
    daemon.write_config({"agent.play": agent(daemon), "review": {"escalate": ["small"]}})
    daemon.start()
    number = daemon.submit(repo.path)
    assert daemon.ended(number)["state"] == "succeeded"
    assert models(daemon, number) == [("implement", "own")]


def test_another_agent_keeps_its_own_model(make_daemon, repo):
    daemon = make_daemon(start=False, scripts={**SCRIPTS, "review": "pass\n"})
    daemon.write_config({"agent.play": agent(daemon, account="mine"),
                         "agent.spent": {"command": ["sh", "-c", f"cat > /dev/null; echo '{LIMIT}'; exit 1"],
                                         "reader": "codex", "fallback": ["play"]},
                         "review": {"escalate": ["small", "large"]}})
    daemon.start()
    number = daemon.review(repo.path, agent="spent", reviewer_agent="play")
    assert daemon.ended(number)["state"] == "succeeded"
    assert models(daemon, number) == [("implement", "small"), ("implement", "own"), ("review", "own")]
