"""Largest payloads: at rest, and while the platform shakes; by search over actuator positions.

Payloads of one geometry, mass and tensor in proportion, as sections 4.2.1 and 4.2.2 of the Stewart
thesis have them. `docs/payload.md` derives what is used.
"""
