"""The page of the command line, as Typer documents its commands."""

from __future__ import annotations

import html
import re
import subprocess
import sys

from handbook.markdown import plain, table

HEAD = """# Command line

`twin COMMAND --help` prints the same. The exit code is 0 without a fault, 1 for a
fault such as a failed case of the validation, and 2 for wrong usage.
"""

UNSEEN = re.compile(
    r"Raises:\n.*?(?=\*\*Usage\*\*)|(\*\*Options\*\*:\n\n)?\* `--help`: [^\n]*\n",
    re.DOTALL,
)
"""Errors, which `--help` does not print, and the option that every command has."""

TITLE = re.compile(r"^## `(twin \w+)`\n\n(.+)$", re.MULTILINE)


def commands_page() -> str:
    """Return the page: every command with its arguments and options."""
    arguments = [sys.executable, "-m", "typer", "twin.cli", "utils", "docs", "--name", "twin"]
    text = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    text = UNSEEN.sub("", html.unescape(text))
    rows = [
        (f"[`{name}`](#{name.replace(' ', '-')})", plain(line))
        for name, line in TITLE.findall(text)
    ]
    sections = text[text.index("## `twin ") :]
    overview = table(("Command", "Purpose"), rows)
    return "\n".join([HEAD, overview, TITLE.sub(r"## \1\n\n\2", sections)])
