"""The backdrop of a machine: ground, light and background, which never move."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.page.scene.machine_scene import MachineScene

CELLS = 12.0
"""Approximate number of cells of the ground's grid along the size of a machine."""

SECTION = 5
"""Cells between two stronger lines."""

FADE = 7.0
"""[sizes of the machine] from the camera at which the ground fades out."""

PLANE = (222, 227, 233)

LINES = ((203, 210, 219), (176, 185, 198))
"""Colours of thin and strong lines, red, green, blue."""

SKY = ((201, 210, 221), (238, 241, 245))
"""Colours of the background, above and below."""

NIGHT = ((28, 31, 37), (58, 63, 72))
"""The same in the dark."""

DARK_PLANE, DARK_LINES = (46, 50, 57), ((62, 67, 76), (92, 99, 110))
"""Colours of the ground and its lines in the dark."""

DAYLIGHT = 2.2
"""Strength of the light from all around, white above and of the ground's colour below."""

BOUNCE = (150, 160, 176)

LAMP, LAMP_PLACE = 1.1, (2.0, -3.0, 2.5)
"""Strength and direction of a lamp beside the camera of the overview, which models round parts."""


class Backdrop:
    """The ground, the light and the background.

    Attributes:
        cell: [m] between two lines of the ground.
        ground: its node.
    """

    def __init__(self, server: Any, machine: MachineScene) -> None:
        """Make a backdrop in proportion to a machine, without shadows."""
        self._server = server
        self.cell = round_length(machine.size / CELLS)
        scene = server.scene
        # Reflections of surroundings are slow where no graphics card draws, and pale the colours.
        scene.configure_environment_map(None)
        scene.add_light_hemisphere(
            "/daylight", sky_color=(255, 255, 255), ground_color=BOUNCE, intensity=DAYLIGHT
        )
        scene.add_light_directional("/lamp", intensity=LAMP, position=LAMP_PLACE)
        self.cast_shadows(False)
        self.ground = scene.add_grid(
            "/ground",
            plane="xy",
            infinite_grid=True,
            cell_size=self.cell,
            section_size=SECTION * self.cell,
            cell_color=LINES[0],
            section_color=LINES[1],
            fade_distance=FADE * machine.size,
            fade_strength=1.5,
            plane_color=PLANE,
            plane_opacity=1.0,
            shadow_opacity=0.25,
            position=(0.0, 0.0, float(machine.scene_model.ground[2])),
        )
        self.darken(False)

    def darken(self, dark: bool) -> None:
        """Give ground and background their colours for dark or for light."""
        above, below = NIGHT if dark else SKY
        share = np.linspace(0.0, 1.0, 64)[:, None, None]
        sky = (1.0 - share) * np.array(above) + share * np.array(below)
        rows = np.repeat(sky.astype(np.uint8), 2, axis=1)
        self._server.scene.set_background_image(rows, format="png")
        self.ground.plane_color = DARK_PLANE if dark else PLANE
        self.ground.cell_color, self.ground.section_color = DARK_LINES if dark else LINES

    def cast_shadows(self, cast: bool) -> None:
        """Let the machine cast shadows; slow where no graphics card draws."""
        self._server.scene.configure_default_lights(True, cast_shadow=cast)


def round_length(length: float) -> float:
    """Return the length [m] of 1, 2 or 5 times a power of ten that is nearest in proportion."""
    power = 10.0 ** np.floor(np.log10(length))
    choices = power * np.array([1.0, 2.0, 5.0, 10.0])
    return float(choices[np.abs(np.log(choices / length)).argmin()])
