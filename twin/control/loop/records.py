"""Records of a closed loop, one row per control instant."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray
from twin.errors import InputError, brief

OWN_SIGNALS = (
    *("time", "setpoint", "measured", "command", "command_mode", "command_feedforward", "limited"),
    *("reference_pose", "inertial"),
)
"""Names of what the loop records itself."""


class Records:
    """Rows of the loop's own signals and of the controller's, all or the last ones."""

    def __init__(self, keep: int | None) -> None:
        """Begin without rows; `keep`: number of rows that are kept, None for all."""
        self._rows: deque[dict[str, Any]] = deque(maxlen=keep)
        self._noted: dict[str, FloatArray] | None = None
        self._changed = False

    def change(self) -> None:
        """Let the controller change: if another one has other signals, records begin anew."""
        self._changed = True

    def note(self, signals: Mapping[str, Any]) -> str:
        """Keep the signals of the controller; return the reason for a stop, or an empty text.

        Raises:
            InputError: names that change from period to period, or that the loop itself uses.
        """
        if self._noted is not None and signals.keys() != self._noted.keys():
            if not self._changed:
                raise InputError(
                    "signals", "of a controller must have the same names in every period"
                )
            self._rows.clear()
        self._changed = False
        found = {}
        for name, value in signals.items():
            if name in OWN_SIGNALS:
                raise InputError(
                    "signals", f"the loop itself records {brief(name)}; take another name"
                )
            found[name] = np.array(value, dtype=float)
            if not np.isfinite(found[name]).all():
                return f"the controller's {name} is not finite"
        self._noted = found
        return ""

    def add(self, own: Mapping[str, Any], read: Callable[[], Mapping[str, Any]]) -> None:
        """Add a row: the loop's `own` signals and the controller's that were noted last.

        Without noted signals, after a stop in the first period, those that `read` returns.
        """
        if self._noted is None:
            self._noted = {
                name: np.nan_to_num(value, posinf=0.0, neginf=0.0) for name, value in read().items()
            }
        self._rows.append({**own, **self._noted})

    def signals(self) -> dict[str, FloatArray]:
        """Return all rows by name."""
        names = self._rows[0] if self._rows else ()
        return {name: np.array([row[name] for row in self._rows]) for name in names}
