"""Pictures that the build has drawn, in place of the committed ones."""

from __future__ import annotations

import shutil
from pathlib import Path


def use_drawn(pictures: Path, site: Path) -> list[str]:
    """Copy pictures over those of a site that have their names; returns the names."""
    found = sorted(file.name for file in pictures.glob("*.*") if (site / file.name).is_file())
    for name in found:
        shutil.copyfile(pictures / name, site / name)
    return found
