"""Universal joint, prismatic actuator, spherical joint."""
