"""Integration over time: Runge-Kutta with fixed steps, Dormand-Prince with adapted steps."""
