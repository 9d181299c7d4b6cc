"""One machine on arrays: kinematics, dynamics, integration, and the protocol of engines."""
