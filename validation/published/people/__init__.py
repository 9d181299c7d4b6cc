"""Published mass properties of people, typed a second time."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

BODY_SEGMENTS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "de_leva.toml").read_text(encoding="utf-8")
)
"""Tables `shares`, `male` and `female`, in the units in which they are printed."""
