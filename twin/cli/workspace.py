"""The command `workspace`."""

from __future__ import annotations

from typing import Annotated

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import show
from twin.cli.quantities import in_unit, pose_of, quantity_option
from twin.cli.values import PAGE_ENDING, check_files, renamed_fields, write_json


@app.command()
def workspace(
    machine: options.Machine,
    *,
    pose: options.Pose = None,
    stiffness: Annotated[
        float | None,
        quantity_option(
            "Stiffness of every actuator in N/m, for cranks N m/rad; default: the machine's own "
            "springs, else stiffness relative to that of an actuator.",
            "stiffness",
            "N/m",
            "N m/rad",
        ),
    ] = None,
    configuration: options.Configuration = None,
    plot: options.Plot = None,
    json: options.Json = None,
) -> None:
    """Analyse the workspace: ranges, volumes, dexterity, singular poses, stiffness.

    --pose is the centre. The JSON file holds, in SI units and rad: machine, parameters, center,
    ranges, workspace, orientation_workspace, dexterity, singularity, stiffness.
    """
    from twin.analysis.platform import load
    from twin.analysis.workspace.analysis import (
        workspace_analysis,
        workspace_content,
        workspace_results,
    )

    check_files(plot=(plot, PAGE_ENDING), json=(json, ""))
    platform = load(machine, configuration)
    center = pose_of(platform, pose)
    unit = "N/m" if platform.coordinate_unit == "m" else "N m/rad"
    in_unit(stiffness, "stiffness", unit, f"that of {platform.name}")
    with renamed_fields(center="pose"):
        analysis = workspace_analysis(platform, center, stiffness=stiffness)
    show(workspace_results(analysis), plot)
    write_json(json, workspace_content(analysis))
