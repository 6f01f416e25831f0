# SPDX-License-Identifier: MIT
"""Profile × task source × part of a prompt, read from the tables of the program: what fills each
part."""
import re
from pathlib import Path


class Tables:
    """root: the top directory of the project; read: a function that reads a file below it."""

    def __init__(self, root, read=None):
        read = read or (lambda name: (Path(root) / name).read_text())
        header, rows, sources, filler = (read(n)
                                         for n in ("daemon/core/profile.h", "daemon/core/profile.c",
                                                   "daemon/task/source.c", "daemon/job/filler.c"))
        self.parts = re.findall(r"^\tPART_(\w+) = 1 << \d+", header, re.M)
        self.sources = dict(re.findall(r'\[SOURCE_(\w+)\] = \{ \.name = "(\w+)"', sources))
        # source: the profile of its reviews
        self.only = dict(re.findall(r'\[SOURCE_(\w+)\] = \{[^}]*\.profile = "(\w+)"', sources))
        self.profiles = {}				# name: {role: set of parts}
        for block in re.split(r"\n\t\{\n", rows)[1:]:
            masks = {field: re.search(rf"\.{field} = ([A-Z_ |\n\t]+),", block) for field in ("review_sees", "fix_sees")}
            self.profiles[re.search(r'\.name = "(\w+)"', block).group(1)] = {
                role: set(re.findall(r"PART_(\w+)", mask.group(1) if mask else ""))
                for role, mask in zip(("review", "fix"), masks.values())}
        # (name, part, {source: function}) of the fillers
        self.rows = []
        for name, part, body in re.findall(r'^\t\{ "(\w+)", PART_(\w+), (.*?) ?\},$', filler, re.M | re.S):
            everywhere = re.match(r"EVERYWHERE\((\w+)\)", body)
            self.rows.append((name, part, {s: everywhere.group(1) for s in self.sources}
                              if everywhere else dict(re.findall(r"\[SOURCE_(\w+)\] = (\w+)", body))))
        self.names = {part: name for name, part, _ in self.rows}

    def needed(self, profile):
        """The parts that some role of the profile may be given: an implementer's depend on no
        profile, and a human or a check may send any role back."""
        return set().union(*self.profiles[profile].values()) | {"PROJECT", "TASK", "FOLLOW_UP", "ROUND"}

    def filler(self, source, part):
        """The function that fills it; None: it was forgotten."""
        return next((functions.get(source) for _, p, functions in self.rows
                     if p == part and functions.get(source) != "NULL"), None)
