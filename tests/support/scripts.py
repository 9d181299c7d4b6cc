"""Scripts that tests run in their own process."""

import runpy
import sys
from unittest.mock import patch


def run_script(path, *arguments):
    """Run a script as `python path arguments`."""
    with patch.object(sys, "argv", [str(path), *map(str, arguments)]):
        runpy.run_path(str(path), run_name="__main__")
