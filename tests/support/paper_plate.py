"""The driving simulator in numbers, as its paper gives them and as this project splits them."""

from twin.papers.driving_simulator.kinematics import PlateModel

ROLL_INERTIA = 29.5346001
PITCH_INERTIA = 38.9795301
"""[kg m2] Twice the printed fractions 4156625437653019 / 2^48 and 1371470290886227 / 2^46."""

PLATE = PlateModel(
    half_length=0.8,
    half_width=0.41,
    plate_mass=150.0,
    roll_inertia=ROLL_INERTIA,
    pitch_inertia=PITCH_INERTIA,
    yaw_inertia=60.0,
    upper_mass=28.0,
    foot_mass=2.0,
    gravity=9.81,
    home_length=0.3549,
    stroke=0.1,
)
"""With 2 kg of each pillar at its foot."""

PAPER = PLATE.lumped()
"""All 30 kg of each pillar at the corner, as in the paper."""
