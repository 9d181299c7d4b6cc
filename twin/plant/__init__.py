"""Hardware of a machine: drives, friction, backlash, encoders, inertial sensors."""
