# SPDX-License-Identifier: MIT
"""rlctl report --format html: one file that says what happened and what to do, on any screen, for
any reader, whatever agents wrote."""
import html.parser
import json

import pytest
from browser import WORKABLE, Browser
from pages import comments, many, panel

SCREENS = [(width, colours) for width in (360, 1280) for colours in ("light", "dark")]


@pytest.fixture
def browser(make_daemon):
    """Its processes end before those of daemons are looked for."""
    with Browser() as made:
        yield made


def page_of(daemon, run, tmp_path, *more):
    path = tmp_path / f"{run}.html"
    daemon.rlctl("report", run, "--format", "html", "-o", path, *more, check=0)
    return path


class Outline(html.parser.HTMLParser):
    """Elements in order; what is not closed or closes nothing is an error."""

    VOID = {"meta", "br", "hr", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_outline(text, served=()):
    """Landmarks, headings, tables, names. served: elements that only a page from a server has."""
    seen = Outline(text).seen
    tags = [tag for tag, _ in seen]
    assert (tags.count("main"), tags.count("h1"), tags.count("title")) == (1, 1, tags.count("rect") + 1 -
                                                                           text.count('class="fault"'))
    assert ("html", {"lang": "en"}) in seen
    levels = [int(tag[1]) for tag in tags if tag in ("h1", "h2", "h3", "h4")]
    assert all(b <= a + 1 for a, b in zip([0, *levels], levels)), levels
    assert all("scope" in attributes for tag, attributes in seen if tag == "th")
    assert tags.count("table") == tags.count("caption")
    ids = [a["id"] for _, a in seen if "id" in a]
    assert len(ids) == len(set(ids)), ids
    wanted = [a["href"][1:] for _, a in seen if "href" in a and (not served or a["href"][0] == "#")]
    wanted += [a["aria-labelledby"] for _, a in seen if "aria-labelledby" in a]
    assert set(wanted) <= set(ids), set(wanted) - set(ids)
    assert not {"script", "iframe", "object", "embed", "link", "base", "form", "img"} & set(tags) - set(served)


def check_screen(browser, page, width, colours, least=31):
    browser.look(page, width, colours=colours)
    assert browser.ask("return document.documentElement.scrollWidth") <= width
    browser.open_all()
    assert browser.ask("return document.documentElement.scrollWidth") <= width
    found = browser.contrasts()
    poor = [(round(ratio, 2), text) for ratio, text in found if ratio < 4.5]
    assert len(found) >= least and not poor, (len(found), poor)


def check_keyboard(browser, page, least=9):
    """Tab comes to everything that can be worked with, in order, and shows where it is."""
    browser.look(page, 1280)
    count = browser.ask("window.all = [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()); "
                        "return all.length", WORKABLE)
    for index in range(count):
        browser.tab()
        at, style, width = browser.ask("const e = document.activeElement, s = getComputedStyle(e); "
                                       "return [all.indexOf(e), s.outlineStyle, parseFloat(s.outlineWidth)]")
        assert at == index and style == "solid" and width >= 2, (at, index, style, width)
    assert count >= least


def check_page(browser, page):
    check_outline(page.read_text())
    browser.requests()
    for width, colours in SCREENS:
        check_screen(browser, page, width, colours)
    check_keyboard(browser, page)
    assert set(browser.requests()) == {f"file://{page}"}
    assert browser.complaints() == []


def test_a_panel_and_its_findings(make_daemon, browser, repo, tmp_path):
    daemon, run = panel(make_daemon, repo, tmp_path)
    assert daemon.ended(run)["state"] == "succeeded"
    page = page_of(daemon, run, tmp_path)
    check_page(browser, page)
    # as it is opened, without scripts, on a phone: the first screen says it
    browser.look(page, 360, 740, scripts=False)
    first = [browser.ask("return [...document.querySelectorAll(arguments[0])].filter(e => "
                         "e.getBoundingClientRect().bottom <= innerHeight).map(e => e.innerText)", what)
             for what in ("h1", ".verdict", ".command")]
    assert first[0] == ["Accept durations of several parts, such as 1h30m"]
    assert first[1][0].startswith("Succeeded. A panel passed it in review 2. 3 findings: 2 resolved, 1 outvoted.")
    assert first[2] == ["rlctl diff 1"]
    # the dissenter, and the finding beside its lines
    assert browser.ask("return [...document.querySelectorAll('.dissents strong')].map(e => e.innerText)") == ["gemini"]
    assert browser.ask("return document.querySelector('.marked').innerText.split('\\n').map(t => t.trim())")[0] == "24"
    # details open by the keyboard
    browser.ask("document.querySelector('#rounds summary').focus()")
    browser.enter()
    assert browser.ask("return document.querySelector('#rounds summary').parentElement.open")


def test_many_tasks(make_daemon, browser, repo, tmp_path):
    daemon, run = many(make_daemon, repo)
    row = daemon.ended(run)
    assert row["state"] == "held"
    page = page_of(daemon, run, tmp_path)
    check_page(browser, page)
    browser.look(page, 1280)
    assert browser.ask("return document.querySelector('.verdict').innerText").startswith(
        "Held. 9 of 12 tasks passed, 1 failed, 2 wait for a decision. T-03: ")
    assert browser.ask("return [document.title, document.querySelector('h1').innerText].map("
                       "t => t.slice(0, t.indexOf(' of ')))") == [f"Run {run} held: 12 tasks", "12 tasks"]
    commands = browser.ask("return [...document.querySelectorAll('#do .command')].map(e => e.innerText)")
    assert commands[:3] == ["rlctl hold approve 1", "rlctl hold rework 1 -m TEXT", "rlctl hold reject 1"]
    assert row["overview"]["take"] in commands
    assert browser.ask("return [...document.querySelectorAll('#tasks tbody tr')].map(e => "
                       "[e.cells[0].innerText, e.cells[1].innerText])") == [
        [t["id"], "held" if t["wait_kind"] == "decision" else t["state"]] for t in row["tasks"]]
    # failed and held ones are open, the others one key away
    assert browser.ask("return [...document.querySelectorAll('.task[open]')].map(e => e.id)") == [
        "task-3", "task-7", "task-9"]
    # who decided it is on the page
    daemon.rlctl("hold", "reject", 1, "-m", "No <b>greeting</b>.", check=0)
    daemon.rlctl("hold", "approve", 2, check=0)
    assert daemon.ended(run)["state"] == "failed"
    browser.look(page_of(daemon, run, tmp_path), 1280)
    holds = browser.ask("return document.querySelector('#holds').innerText")
    assert "rejected by human:" in holds and "No <b>greeting</b>." in holds
    assert "rlctl retry 1" in browser.ask("return document.querySelector('#do').innerText")


EVIL = "</title></style><script>window.evil = 1</script><img src=x onerror='window.evil=2'>\" ' \x1b[31m \u202egnp.exe"


def test_hostile_texts(make_daemon, browser, repo, tmp_path):
    """Task, file names, file contents, findings of almost a MiB, answers, names of checks."""
    name = "a\"<img src=x onerror=window.evil=3>'.txt"
    big = "<script>window.evil = 4</script>" + "x" * 900_000
    found = comments(("must-fix", name, 1, EVIL), ("must-fix", "b.txt", 1, big), ("must-fix", "", 0, "]]>--></pre>"),
                     summary=EVIL)
    daemon = make_daemon(scripts={
        "implement": f"cat > {json.dumps(name)} <<'END'\n{EVIL}\nEND\nprintf 'a\\000b\\377\\n' > b.txt\n"
                     f"cat <<'END'\n{EVIL}\nEND\n",
        "review": found, "fix": "echo more >> b.txt\n"})
    run = daemon.review(repo.path, task=EVIL, checks=["true '</code><script>window.evil = 5</script>'"],
                        review={"profile": "comments", "max_fixes": 1})
    daemon.ended(run)
    page = page_of(daemon, run, tmp_path)
    text = page.read_text()
    check_outline(text)
    assert len(text) < 300_000 and "more is left out here" in text and "\\x1b[31m \\u{202e}gnp.exe" in text
    assert not set(text) & {chr(c) for c in (*range(9), *range(11, 32), 0x7f, 0x202e)}
    check_page(browser, page)
    browser.look(page, 360)
    assert browser.ask("return [window.evil || 0, document.title.split(': ')[1].slice(0, 16)]") == [
        0, "</title></style>"]


def test_while_it_runs_and_to_standard_output(make_daemon, repo):
    daemon = make_daemon(scripts={"implement": "gate here\necho one > work.txt\n"}, gates=["here"])
    run = daemon.submit(repo.path)
    daemon.play.arrived("here")
    text = daemon.rlctl("report", run, "--format", "html", check=0).out
    check_outline(text)
    assert "<dt>attempt</dt><dd>1</dd>" in text.replace("\n", "")
    assert "<code>rlctl watch 1</code>" in text and 'class="bar implement open"' in text
    daemon.play.go("here")
    daemon.ended(run)
    text = daemon.rlctl("report", run, "--format", "html", check=0).out
    check_outline(text)
    assert "It was not reviewed: " in text and f"The result is in {repo.path}, not committed." in text


def test_what_cannot_be_shown(make_daemon, repo, tmp_path):
    daemon = make_daemon(start=True)
    missing = daemon.rlctl("report", 7, "--format", "html", check=1)
    assert missing.out == "" and "no such run: 7" in missing.err
    run = daemon.submit(repo.path)
    daemon.ended(run)
    daemon.rlctl("report", run, "--format", "html", "-o", tmp_path / "no" / "page.html", check=1)
    document = json.loads(daemon.rlctl("--json", "report", run, "--format", "html", check=0).out)
    assert document["version"] == 1


def test_a_run_that_was_cancelled_before_it_began(make_daemon, repo, browser, tmp_path):
    """What it says about itself, and that its name is no sentence twice."""
    daemon = make_daemon(scripts={"implement": "gate here\n"}, gates=["here"])
    with daemon.events(run=daemon.review(repo.path, checks=["true"])) as events:
        events.until("slot.phase", lambda e: e["slot"] == 65535 and e["phase"] == "passed")
    daemon.play.arrived("here")
    waiting = daemon.submit(repo.path)
    assert daemon.cancelled(waiting)["state"] == "cancelled"
    page = page_of(daemon, waiting, tmp_path)
    check_outline(page.read_text())
    browser.look(page, 360)
    assert "Cancelled by " in browser.ask("return document.querySelector('.verdict').textContent.replace("
                                              "/^cancelled/, 'Cancelled')")
    daemon.cancelled(1)
    text = daemon.rlctl("report", 1, "--format", "html", check=0).out
    assert "1 product, 1 judgement<" in text and "<dt>attempts</dt>" in text, text
