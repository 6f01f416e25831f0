# SPDX-License-Identifier: MIT
"""Reading a verdict from 256 KiB of what a reviewer may print, against libmd's SHA-256 of the same
bytes; and four times as much, which must take four times as long."""
import subprocess

from table import Row

SHAPES = ("prose", "braces", "open lists", "quotes", "fences", "small objects", "other verdicts", "escapes", "decision",
          "file, items", "file, lists", "file, prose")
KIB = 256
ROWS = [Row(f"verdict, {shape}", "SHA-256 of libmd", at_least=0.5, why="each byte is looked at more than once")
        for shape in SHAPES]
ROWS += [Row(f"verdict 1 MiB, {shape}", "the same of 256 KiB", at_least=0.7, why="not linear in the length")
         for shape in SHAPES]


def rates(bench, shape, kib):
    done = subprocess.run([bench.tools / "verdict", shape, str(bench.rounds(15)), str(kib)], capture_output=True,
                          text=True, check=True)
    return zip(*[[float(x) for x in line.split()] for line in done.stdout.splitlines()])


def measure(bench):
    for shape in SHAPES:
        if bench.wants(f"verdict, {shape}", f"verdict 1 MiB, {shape}"):
            ours, peer = rates(bench, shape, KIB)
            bench.row(f"verdict, {shape}", ours=ours, peer=peer)
            larger, _ = rates(bench, shape, 4 * KIB)
            bench.row(f"verdict 1 MiB, {shape}", ours=larger, peer=ours)
