"""Largest payloads: at rest, and while the platform shakes; by search over actuator positions.

The payloads keep their geometry, with mass and tensor in proportion, as in sections 4.2.1 and 4.2.2
of the Stewart thesis. `docs/feasibility.md` describes their use.
"""
