"""Scripts that tests run in their own process."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from unittest.mock import patch


def run_script(path: Path, *arguments: object) -> None:
    """Run a script as `python path arguments`."""
    with patch.object(sys, "argv", [str(path), *map(str, arguments)]):
        runpy.run_path(str(path), run_name="__main__")
