"""UPS legs with a viscoelastic element in series with the actuator."""
