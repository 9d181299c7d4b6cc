"""UPS legs with a spring and a damper beside the actuator."""
