"""What real hardware adds: drives, friction, backlash, encoders, inertial sensors."""
