# SPDX-License-Identifier: MIT
"""The rows of the bench: what each is compared with, its bar, and what has been measured."""
import json
import os
import statistics
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """One row, as the table of its group declares it."""
    name: str
    peer: str			# what it is compared with, or the limit
    at_least: float = None
    at_most: float = None
    unit: str = "x"		# x: the ratio of rld to its peer
    why: str = ""		# what lies between, where the bar is not reached
    long: bool = False		# only with LONG=1

    def bar(self):
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return f"<= {self.at_most:g}" if self.at_most is not None else "-"

    def reached(self, value):
        return ((self.at_least is None or value >= self.at_least)
                and (self.at_most is None or value <= self.at_most))

    def verdict(self, value):
        if self.at_least is None and self.at_most is None:
            return ""
        if self.reached(value):
            return "reached"
        far = value / self.at_least if self.at_least is not None else self.at_most / value
        return f"MISSED, at {100 * far:.0f} %" + (f": {self.why}" if self.why else "")


def number(value):
    return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"


def load():
    return " ".join(f"{x:.1f}" for x in os.getloadavg())


class Bench:
    """What a group measures with: which rows are wanted, how many rounds, where its files may be,
    and the table that takes its figures."""

    def __init__(self, rows, wanted, directory, tools, short=False, long=False):
        """wanted: beginnings of names of rows, none: all."""
        self.rows = {row.name: row for row in rows}
        self.wanted, self.directory, self.tools = wanted, directory, tools
        self.short, self.long = short, long
        self.results, self.missed, self.left_out = [], False, []
        print(f"{'row':<34} {'bar':>9} {'minimum':>9} {'median':>9} {'maximum':>9} {'rounds':>6} "
              f"{'rld':>10} {'peer':>10}  unit  verdict; peer")

    def rounds(self, count, least=1):
        return least if self.short else count

    def size(self, count, least):
        """How much is done in one round."""
        return least if self.short else count

    def wants(self, *names):
        """Whether any of these rows is to be measured."""
        return any(self.named(name) and (self.long or not self.rows[name].long) for name in names)

    def named(self, name):
        return not self.wanted or any(name.startswith(word) for word in self.wanted)

    def lacks(self, name, what):
        """The peer is not on this machine."""
        self.left_out.append(name)
        print(f"{name:<34} not measured: {what} is not installed (make deps-bench)")

    def row(self, name, values=(), ours=(), peer=()):
        """values: one figure for each round; or ours and peer, whose ratios they are."""
        if not self.wants(name):
            return
        row = self.rows[name]
        values = list(values) or [a / b for a, b in zip(ours, peer)]
        middle = statistics.median(values)
        self.missed |= not self.short and not row.reached(middle)
        self.results.append({**asdict(row), "values": values, "median": middle, "rld_values": list(ours),
                             "peer_values": list(peer), "reached": row.reached(middle)})
        sides = [number(statistics.median(side)) if len(side) else "-" for side in (ours, peer)]
        verdict = "" if self.short else row.verdict(middle)
        print(f"{name:<34} {row.bar():>9} {number(min(values)):>9} {number(middle):>9} {number(max(values)):>9} "
              f"{len(values):>6} {sides[0]:>10} {sides[1]:>10}  {row.unit:<4}  "
              f"{'; '.join(part for part in (verdict, row.peer) if part)}")

    def write(self, path, machine):
        with open(path, "w") as file:
            json.dump({"machine": machine, "load": load(), "short": self.short, "rows": self.results}, file, indent=1)
            file.write("\n")
