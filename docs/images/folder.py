"""Folder that pictures are drawn into."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent

ROOT = HERE.parents[1]


def picture_folder() -> Path:
    """Return the folder that a script is given; without one that of the committed pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    folder.mkdir(parents=True, exist_ok=True)
    return folder
