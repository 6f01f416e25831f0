# SPDX-License-Identifier: MIT
"""A key makes a repeat return the first result; the same key with another body is a conflict."""
import pytest
from rld import RpcError


def test_a_repeat_returns_the_first(daemon, repo):
    first = daemon.call("run.submit", task="x", workdir=str(repo.path), key="k")
    assert daemon.call("run.submit", task="x", workdir=str(repo.path), key="k")["id"] == first["id"]
    daemon.ended(first["id"])
    assert daemon.call("run.submit", task="x", workdir=str(repo.path),
                       key="k")["id"] == first["id"], "also when it has ended"
    daemon.restart()
    assert daemon.call("run.submit", task="x", workdir=str(repo.path),
                       key="k")["id"] == first["id"], "also after a restart"
    assert len(daemon.call("run.list")["runs"]) == 1


def test_order_of_fields_and_environment_do_not_matter(daemon, repo):
    with daemon.connect() as rpc:
        bodies = [b'{"task":"x","workdir":"%s","priority":1,"key":"k","environment":["LANG=C"]}',
                  b'{"key":"k","priority":1,"environment":["LANG=de"],"workdir":"%s","task":"x"}',
                  b'{"key":"k","priority":1,"workdir":"%s","task":"x"}']
        ids = set()
        for body in bodies:
            rpc.send(b'{"jsonrpc":"2.0","id":1,"method":"run.submit","params":' + body % str(repo.path).encode() + b"}")
            ids.add(rpc.reply()["result"]["id"])
    assert len(ids) == 1


@pytest.mark.parametrize("other", [{"task": "y"}, {"priority": 5}, {"review": {"enabled": True}}, {"model": "m"}])
def test_another_body_is_a_conflict(daemon, repo, other):
    first = daemon.call("run.submit", task="x", workdir=str(repo.path), key="k")
    for _ in range(2):
        with pytest.raises(RpcError) as error:
            daemon.call("run.submit", **{"task": "x", "workdir": str(repo.path), "key": "k", **other})
        assert error.value.code == 4 and error.value.data["kind"] == "conflict"
        assert str(first["id"]) in str(error.value)
        daemon.ended(first["id"])


def test_at_once(daemon, repo):
    """Many with one key, none of them committed yet: one run."""
    with daemon.connect() as rpc, daemon.connect() as second:
        for each in (rpc, second):
            each.send_raw(b"".join(each.frame(each.request(
                "run.submit", {"task": "x", "workdir": str(repo.path), "key": "k"})) for _ in range(50)))
        ids = {each.reply()["result"]["id"] for each in (rpc, second) for _ in range(50)}
    assert len(ids) == 1 and len(daemon.call("run.list")["runs"]) == 1


def test_at_once_with_other_bodies(daemon, repo):
    with daemon.connect() as rpc:
        rpc.send_raw(b"".join(rpc.frame(rpc.request("run.submit", {
            "task": f"{i % 2}", "workdir": str(repo.path), "key": "k"})) for i in range(20)))
        replies = [rpc.reply() for _ in range(20)]
    assert len([r for r in replies if "result" in r]) == 10
    assert {r["error"]["code"] for r in replies if "error" in r} == {4}


def test_other_keys_and_no_key_are_other_runs(daemon, repo):
    ids = [daemon.call("run.submit", task="x", workdir=str(repo.path), **key)["id"]
           for key in ({"key": "a"}, {"key": "b"}, {}, {})]
    assert len(set(ids)) == 4
    daemon.ended(*ids)


def test_bad_keys(daemon, repo):
    for key in ("", 5, "x" * 10000):
        with pytest.raises(RpcError) as error:
            daemon.call("run.submit", task="x", workdir=str(repo.path), key=key)
        assert error.value.code == -32602 and error.value.data["field"] == "key"


def test_check_does_not_use_the_key(daemon, repo):
    daemon.call("run.submit", task="x", workdir=str(repo.path), key="k", check=True)
    assert daemon.call("run.list")["runs"] == []
    assert daemon.call("run.submit", task="y", workdir=str(repo.path), key="k")["id"] == 1


def test_check_keeps_no_environment(daemon, repo):
    daemon.call("run.submit", task="x", workdir=str(repo.path), environment=["API_KEY=secret"], check=True)
    assert list((daemon.state / "env").iterdir()) == []


def test_ids_are_never_used_again(daemon, repo):
    first = daemon.submit(repo.path)
    daemon.ended(first)
    daemon.kill()
    daemon.start()
    assert daemon.submit(repo.path) == first + 1


def test_on_the_command_line(daemon, repo):
    one = daemon.rlctl("submit", "--key", "k", "x", cwd=repo.path, check=0)
    two = daemon.rlctl("submit", "--key", "k", "x", cwd=repo.path, check=0)
    assert one.out == two.out
    daemon.rlctl("submit", "--key", "k", "y", cwd=repo.path, check=1)
