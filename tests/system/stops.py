# SPDX-License-Identifier: MIT
"""Runs that stand where a scripted agent has been told to stop."""


class Stops:
    """Of a class with play, the scripted agents, and submit()."""

    def stop_at(self, where):
        (self.play.path / f"stop.{where}").touch()

    def submit_to(self, where, **params):
        """Submit, and wait until it stands at that stop: (run, pid)."""
        self.stop_at(where)
        number = self.submit(**params)
        return number, self.play.arrived(where)
