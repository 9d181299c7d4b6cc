"""The page of the examples: their table, then each script."""

from __future__ import annotations

import re
from pathlib import Path

from handbook.markdown import fenced

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def examples_page() -> str:
    """Return the page."""
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    table = re.sub(r"\]\((?:learning/)?(\w+)\.py\)", r"](#\1py)", table)
    links = table.replace("](../docs/", "](../")
    scripts = [*sorted(EXAMPLES.glob("*.py")), *sorted(EXAMPLES.glob("learning/*.py"))]
    return "\n".join([links, *(_section(script) for script in scripts)])


def _section(script: Path) -> str:
    return f"## {script.name}\n\n{fenced('python', script.read_text(encoding='utf-8'))}"
