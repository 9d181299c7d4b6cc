"""A second plant with known truth: logs to identify, calibrate and watch machines from.

It shares the rigid forward dynamics with the product, which other tests compare with MuJoCo, and
nothing else: drives, friction, sensors, controllers and integrator are its own.
"""

from twin.validation.rig.logs import FORCE_PER_CURRENT, Conditions, Fault, record

__all__ = ["FORCE_PER_CURRENT", "Conditions", "Fault", "record"]
