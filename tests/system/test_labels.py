# SPDX-License-Identifier: MIT
"""Labels of runs: from the submit, the project and the configuration; lists by them."""
import pytest

from rld import RpcError


@pytest.fixture
def labelled(daemon, repo):
    runs = [daemon.submit(repo.path, labels={"ci_job": "17", "team": "core"}),
            daemon.submit(repo.path, labels={"ci_job": "18", "team": "core"}),
            daemon.submit(repo.path)]
    daemon.ended(*runs)
    return runs


@pytest.mark.parametrize("wanted, found", [
    ({"team": "core", "ci_job": "17"}, [0]), ({"team": "core"}, [1, 0]), ({"ci_job": "18"}, [1]), ({}, [2, 1, 0]),
    ({"team": "core", "ci_job": "19"}, []), ({"Team": "core"}, []), ({"ci": "17"}, []),
])
def test_lists_by_labels(daemon, labelled, wanted, found):
    ids = [labelled[i] for i in found]
    assert [r["id"] for r in daemon.call("run.list", labels=wanted)["runs"]] == ids
    options = [part for name, value in wanted.items() for part in ("--label", f"{name}={value}")]
    said = daemon.rlctl("list", "--json", *options, check=0).out
    assert said.count('"created_at"') == len(ids)


def test_they_are_shown_and_last(daemon, repo, labelled):
    assert daemon.run(labelled[0])["labels"] == {"ci_job": "17", "team": "core"}
    assert daemon.run(labelled[2])["labels"] == {}
    daemon.restart()
    assert daemon.call("run.list", labels={"ci_job": "17"})["runs"][0]["labels"] == {"ci_job": "17", "team": "core"}
    assert "labels" not in daemon.rlctl("show", labelled[2], check=0).out
    shown = daemon.rlctl("show", labelled[0], check=0).out
    assert "ci_job=17, team=core" in shown


def test_options_of_rlctl(daemon, repo):
    said = daemon.rlctl("submit", "--label", "a.b/c-d=1", "--label", "note=x = y", "-C", repo.path, "do it", check=0)
    run = int(said.out)
    assert daemon.run(run)["labels"] == {"a.b/c-d": "1", "note": "x = y"}
    daemon.rlctl("run", "--label", "note=z", "-C", repo.path, "do it", check=0)
    assert daemon.run(run + 1)["labels"] == {"note": "z"}
    daemon.ended(run)


@pytest.mark.parametrize("options, says", [
    (["--label", "note=x", "--label", "note=x"], "rlctl: --label note is given twice: a run has one value of it"),
    (["--label", "note"], "rlctl: --label must be NAME=VALUE")])
def test_options_that_are_refused(daemon, repo, options, says):
    for command in (["submit", "-C", repo.path, *options, "do it"], ["list", *options]):
        assert says in daemon.rlctl(*command, check=2).err
    assert daemon.call("run.list")["runs"] == []


def test_defaults(make_daemon, repo):
    """The labels of a submit take the place of those of the project, and these of the others."""
    daemon = make_daemon(config={"run.label": {"host": "here"}})
    runs = [daemon.submit(repo.path)]
    repo.write(".rld.toml", '[run]\nlabel = { team = "core", job = "some" }\n')
    runs += [daemon.submit(repo.path), daemon.submit(repo.path, labels={"job": "17"}),
             daemon.submit(repo.path, labels={})]
    assert [daemon.run(run)["labels"] for run in runs] == [
        {"host": "here"}, {"team": "core", "job": "some"}, {"job": "17"}, {}]
    daemon.ended(*runs)


def test_a_retry_has_them(make_daemon, repo):
    daemon = make_daemon(scripts={"implement.1": "exit 1\n"})
    run = daemon.submit(repo.path, labels={"ci_job": "17"})
    assert daemon.ended(run)["state"] == "failed"
    retry = daemon.call("run.retry", id=run)["id"]
    assert daemon.ended(retry)["labels"] == {"ci_job": "17"}


@pytest.mark.each
@pytest.mark.parametrize("labels, text", [
    ({"a b": "x"}, "has a label 'a b', but names of labels are"), ({"": "x"}, "has a label ''"),
    ({"-a": "x"}, "has a label '-a'"), ({"a" * 65: "x"}, "at most 64"),
    ({"a": "x" * 257}, "at most 256 bytes, but 'a'"),
    ({str(n): "x" for n in range(33)}, "must have at most 32 members, has 33"), ({"a": 1}, "must contain strings"),
])
def test_wrong_labels(daemon, repo, labels, text):
    with pytest.raises(RpcError, match="labels") as refused:
        daemon.submit(repo.path, labels=labels)
    assert text in refused.value.message and refused.value.data["field"] == "labels"
