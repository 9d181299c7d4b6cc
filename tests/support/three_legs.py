"""The tip-tilt table `tripod` with light direct drives, so that its payload shows."""

LIGHT_DRIVES = """
extends = "tripod"
source = "Adopted"

[leg.drive]
source = "Adopted: light direct drives, so that the payload shows"
kind = "direct"
moving_mass = "0.8 kg"
friction = "1.5 N"
viscous = "40 N s/m"
stiffness = "1 N/um"
damping = "400 N s/m"
peak = "50 N"
current_lag = "0.5 ms"
delay = "1 ms"
scale_period = "20 um"

[leg.encoder]
source = "Adopted"
counts = 20
"""
