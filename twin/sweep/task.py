"""One run of a sweep: everything a worker needs for it, and the key it is known by."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from twin import __version__
from twin.machine.file.read import parameters_hash
from twin.machine.machine import MachineParameters
from twin.sweep.choices import ControllerChoice, MotionChoice, PayloadChoice

FORMAT = 1
"""Of the keys and columns; another one means other results."""


@dataclass(frozen=True)
class Task:
    """One run. Carries the machine itself: workers need no files."""

    index: int
    """Place in the sweep"""
    machine: MachineParameters
    """With the machine's configuration, without values and payload"""
    configuration: str
    engine: str
    fidelity: str
    """Of the engine"""
    timestep: float | None
    """[s]"""
    motion: MotionChoice
    controller: ControllerChoice
    values: dict[str, float] = field(default_factory=dict)
    """By dotted path, SI"""
    payload: PayloadChoice = field(default_factory=PayloadChoice)
    seed: int = 0
    recording: str | None = None
    """Content of the motion's file, where it is a recording"""
    measure: str | None = None
    """`package.module:function`"""
    measure_source: str = ""
    """Source of that function: another one gives other results"""

    @cached_property
    def key(self) -> str:
        """Hexadecimal digest of all that decides on the result, the package's version included."""
        content = {
            "format": FORMAT,
            "version": __version__,
            "machine": parameters_hash(self.machine),
            "motion": self.motion.model_dump(mode="json"),
            "controller": self.controller.model_dump(mode="json"),
            "payload": self.payload.model_dump(mode="json"),
        }
        names = ("engine", "fidelity", "timestep", "values", "seed", "recording", "measure")
        content |= {name: getattr(self, name) for name in (*names, "measure_source")}
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    def name(self) -> str:
        """Short name of the run, for messages."""
        parts = [f"{path}={value:.6g}" for path, value in self.values.items()]
        parts += [f"payload {self.payload.title}"] if self.payload.title != "none" else []
        words = (self.controller.title, self.engine, self.configuration, *parts)
        return f"run {self.index}: {', '.join(filter(None, words))}, seed {self.seed}"

    def columns(self) -> dict[str, Any]:
        """Return what goes in, by the names of the results' columns."""
        options = dict(self.controller.options) | {"model": self.controller.model}
        return {
            "key": self.key,
            "run": self.index,
            "version": __version__,
            "machine": self.machine.name,
            "configuration": self.configuration,
            "machine_hash": parameters_hash(self.machine),
            "engine": self.engine,
            "fidelity": self.fidelity,
            "motion": self.motion.name,
            "axis": self.motion.axis,
            "controller": self.controller.title,
            "controller_name": self.controller.name,
            "controller_options": json.dumps(options, sort_keys=True),
            "payload": self.payload.title,
            "seed": self.seed,
            **self.values,
        }
