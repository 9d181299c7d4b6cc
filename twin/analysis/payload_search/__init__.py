"""Largest payloads: at rest, and while the platform shakes; by search over actuator positions.

Payloads of one geometry, mass and tensor in proportion, as sections 4.2.1 and 4.2.2 of the Stewart
thesis have them. `docs/payload.md` derives what is used.
"""

from twin.analysis.payload_search.continuous import ContinuousLimit, continuous_limit
from twin.analysis.payload_search.criterion import THESIS_CRITERION, Criterion
from twin.analysis.payload_search.dynamic import DynamicPayload, dynamic_payload
from twin.analysis.payload_search.positions import Positions, grid_positions
from twin.analysis.payload_search.scaled import ScaledPayload, scaled_payload
from twin.analysis.payload_search.static import StaticPayload, static_payload
from twin.analysis.payload_search.worst_phase import WorstPhase, worst_phase

__all__ = [
    "THESIS_CRITERION",
    "ContinuousLimit",
    "Criterion",
    "DynamicPayload",
    "Positions",
    "ScaledPayload",
    "StaticPayload",
    "WorstPhase",
    "continuous_limit",
    "dynamic_payload",
    "grid_positions",
    "scaled_payload",
    "static_payload",
    "worst_phase",
]
