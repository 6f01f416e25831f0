# SPDX-License-Identifier: MIT
"""A program on a terminal of ours: what it writes is interpreted as a terminal would, and every
byte of it is kept."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import unicodedata

import pytest
from rld import RLCTL, Daemon, note_command

SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


def columns(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def open_terminal():
    """(master, slave); the test is skipped where the system has none to give, as in a
    container without devpts."""
    try:
        return pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be opened here (is devpts mounted on /dev/pts?): {error}")


class Screen:
    """The little of ECMA-48 that is needed; anything else is an error, so that nothing
    strange goes unseen."""

    def __init__(self, lines, width):
        self.modes, self.pending = {"7", "25"}, ""      # wrapping, cursor
        self.resize(lines, width)

    def resize(self, lines, width):
        self.lines, self.width = lines, width
        self.clear()

    def clear(self):
        self.cells = [[" "] * self.width for _ in range(self.lines)]
        self.row = self.column = 0

    def feed(self, text):
        text, at = self.pending + text, 0
        self.pending = ""
        while at < len(text):
            if text[at] == "\x1b":
                match = SEQUENCE.match(text, at)
                if match is None:
                    assert re.fullmatch(r"\x1b(\[\??[0-9;]*)?", text[at:]), f"no sequence of ours: {text[at:at + 20]!r}"
                    self.pending = text[at:]
                    return
                self.sequence(*match.groups())
                at = match.end()
                continue
            self.put(text[at])
            at += 1

    def sequence(self, private, numbers, final):
        if private:
            assert final in "hl" and numbers in ("1049", "25", "7", "2004"), (private, numbers, final)
            (self.modes.add if final == "h" else self.modes.discard)(numbers)
        elif final == "H":
            row, column = (numbers or "1;1").split(";")
            self.row, self.column = int(row) - 1, int(column) - 1
            assert self.row < self.lines and self.column < self.width, "outside of the screen"
        elif final == "J":
            assert numbers in ("", "2")
            if numbers == "":                       # from the cursor to the end
                self.cells[self.row][self.column:] = [" "] * (self.width - self.column)
            below = self.row + 1 if numbers == "" else 0
            self.cells[below:] = [[" "] * self.width for _ in range(self.lines - below)]
        elif final == "K":
            assert numbers == "2"
            self.cells[self.row] = [" "] * self.width
        else:
            assert final == "m", final

    def put(self, character):
        if character in "\r\n":
            if character == "\r":
                self.column = 0
            else:
                self.next_line()
            return
        assert character.isprintable(), f"{character!r} reaches the terminal"
        taken = columns(character)
        if taken == 0:
            self.cells[self.row][max(self.column - 1, 0)] += character
            return
        if self.column + taken > self.width:
            assert "7" in self.modes, "a line is wider than the screen"
            self.next_line()
            self.column = 0
        self.cells[self.row][self.column] = character
        for i in range(1, taken):
            self.cells[self.row][self.column + i] = ""
        self.column += taken

    def next_line(self):
        if self.row + 1 < self.lines:
            self.row += 1
        else:
            self.cells = self.cells[1:] + [[" "] * self.width]

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)


class Terminal:
    """rlctl with a terminal of its own for all three of its streams."""

    def __init__(self, socket, *args, lines=24, width=80, environment=None, controlling=True):
        note_command(tuple(map(str, args)))
        self.master, slave = open_terminal()
        self.slave = slave                  # kept open, so that its settings can be read afterwards
        self.screen, self.data = Screen(lines, width), b""
        self.set_size(lines, width)
        self.before = termios.tcgetattr(slave)
        env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm",
               "RLD_SOCKET": str(socket), **(environment or {})}

        def own():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen([str(RLCTL), *map(str, args)], stdin=slave, stdout=slave, stderr=slave, env=env,
                                        preexec_fn=own if controlling else None)
        Daemon.processes.append(self.process)

    def set_size(self, lines, width):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, width, 0, 0))

    def resize(self, lines, width):
        """What a terminal does: the foreground program is told."""
        self.drain()
        self.screen.resize(lines, width)
        self.set_size(lines, width)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def drain(self):
        while select.select([self.master], [], [], 0)[0]:
            self.read()

    def read(self):
        piece = os.read(self.master, 65536)
        self.data += piece
        self.screen.feed(piece.decode())

    def until(self, predicate):
        """Wait until the screen's text is as wanted: the text."""
        while True:
            text = self.screen.text()
            if not self.screen.pending and predicate(text):
                return text
            try:
                self.read()
            except BaseException:       # the deadline of the test
                print(f"the screen:\n{text.rstrip()}")
                raise

    def shows(self, *words):
        return self.until(lambda text: all(word in text for word in words))

    def ended(self):
        """Wait for the end: its exit status. What was written is all read."""
        pidfd = os.pidfd_open(self.process.pid)
        try:
            while True:
                ready, _, _ = select.select([self.master, pidfd], [], [])
                if self.master in ready:
                    self.read()
                elif pidfd in ready:
                    break
        finally:
            os.close(pidfd)
        self.drain()
        return self.process.wait()

    def restored(self):
        """The terminal is as it was: its settings, the screen, the cursor, wrapping."""
        assert termios.tcgetattr(self.slave) == self.before
        written = self.data.decode()
        assert written.count("\x1b[?1049h") == written.count("\x1b[?1049l") > 0
        assert not {"1049", "2004"} & self.screen.modes and {"25", "7"} <= self.screen.modes, self.screen.modes
        return True

    def message(self):
        """What was written after the screen was left."""
        return self.data.decode().rsplit("\x1b[?1049l", 1)[1]

    def signal(self, number):
        self.process.send_signal(number)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        for fd in (self.master, self.slave):
            if fd is not None:
                os.close(fd)
        self.master = self.slave = None
