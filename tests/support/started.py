"""Commands of the package in processes of their own, whose lines are read while they run."""

import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from threading import Thread

PATIENCE = 240.0
"""[s] for what takes a few on a quiet computer."""


class Started:
    """A command that runs.

    Attributes:
        lines: what it has printed so far.
    """

    def __init__(self, process):
        """Read what a process prints."""
        self.process, self.lines = process, list[str]()
        self.reader = Thread(target=self.read, daemon=True)
        self.reader.start()

    def wait_for(self, pattern):
        """Return the first group of a pattern, once a line has it."""
        wait = PATIENCE
        while (found := re.search(pattern, self.output)) is None:
            assert wait > 0.0, f"waited for {pattern!r}, found {self.output!r}"
            assert self.reader.is_alive() or re.search(pattern, self.output), self.output
            self.reader.join(0.05)
            wait -= 0.05
        return found[1]

    def wait_end(self):
        """Return the exit code, once the command has ended."""
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code

    def has_ended(self, within):
        """Return whether the command ends within a time [s]."""
        self.reader.join(within)
        return not self.reader.is_alive()

    @property
    def output(self):
        """All lines so far."""
        return "".join(self.lines)

    def read(self):
        """Keep the lines that the command prints, until it ends."""
        for line in self.process.stdout:
            self.lines.append(line)


@contextmanager
def started(*arguments):
    """Run `twin ARGUMENTS`; it is ended at the end of the block if it has not ended itself."""
    command = [sys.executable, "-u", "-m", "twin", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield Started(process)
        finally:
            process.kill()


def free_port(kind):
    """Return a port of this computer that nobody has."""
    with socket.socket(socket.AF_INET, kind) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
