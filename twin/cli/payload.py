"""The commands `payload` and `workspace`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from twin.cli import options
from twin.cli.application import app
from twin.cli.console import progress_bar, show
from twin.cli.options import option
from twin.cli.values import (
    check_files,
    in_unit,
    pose_of,
    quantity_option,
    renamed_fields,
    write_json,
)

SenseName = Literal["magnitude", "signed"]

Dynamic = Annotated[bool, option("Also search under shaking, 2 to 70 Hz.", "--dynamic")]
Limit = Annotated[
    float | None,
    quantity_option("Largest force in N or torque in N m; default: the machine's own.", "N", "N m"),
]
FirstMass = Annotated[
    float | None, quantity_option("First total mass in kg; default: the step.", "kg")
]
Step = Annotated[
    float | None,
    quantity_option(
        "Mass added each time in kg; default: about a thirtieth of what the machine holds at home.",
        "kg",
    ),
]
Sense = Annotated[
    SenseName, option("magnitude: limit pushing and pulling forces; signed: pushing alone.")
]
Unchecked = Annotated[
    bool,
    option("With --dynamic: shake even beyond the actuators' ends and speeds.", "--unchecked"),
]


@app.command()
def payload(
    machine: options.Machine,
    *,
    json: options.Json = None,
    report: options.Report = None,
    dynamic: Dynamic = False,
    limit: Limit = None,
    grid: Annotated[int, option("Positions per actuator.", min=2)] = 4,
    first_mass: FirstMass = None,
    step: Step = None,
    sense: Sense = "magnitude",
    unchecked: Unchecked = False,
    configuration: options.Configuration = None,
) -> None:
    """Find the largest payload that a machine holds at rest, and under shaking.

    Masses are total, of the platform with what it carries; the table gives what may be added, too.
    The page shows the largest force over the mass.
    """
    from twin.analysis.payload.dynamic import dynamic_payload, payload_record
    from twin.analysis.payload.static import THESIS_CRITERION, THESIS_MACHINE, static_payload
    from twin.analysis.platform import load
    from twin.cli.tables.analysis import payload_results

    check_files(reads=(machine,), json=json, report=report)
    platform = load(machine, configuration)
    in_unit(limit, "limit", platform.force_unit, f"the limit of {platform.name}")
    search: dict[str, Any] = {"limit": limit, "sense": sense, "start": first_mass, "step": step}
    with renamed_fields(shares="grid", start="first_mass"):
        still = static_payload(platform, grid=grid, **search)
    criteria = {"in phase": THESIS_CRITERION} if dynamic else {}
    if dynamic and platform.name == THESIS_MACHINE:
        criteria["rotations backwards"] = THESIS_CRITERION.backwards()
    dynamic_payloads = {}
    with progress_bar("payload", len(criteria)) as advance:
        for name, criterion in criteria.items():
            advance(name)
            dynamic_payloads[name] = dynamic_payload(
                platform, criterion, checked=not unchecked, **search
            )
    show(payload_results(platform, still, dynamic_payloads), report)
    write_json(json, payload_record(platform, still, *dynamic_payloads.values()))


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
            "N/m",
            "N m/rad",
        ),
    ] = None,
    configuration: options.Configuration = None,
    report: options.Report = None,
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

    check_files(report=report, json=json)
    platform = load(machine, configuration)
    center = pose_of(platform, pose)
    unit = "N/m" if platform.coordinate_unit == "m" else "N m/rad"
    in_unit(stiffness, "stiffness", unit, f"that of {platform.name}")
    with renamed_fields(center="pose"):
        analysis = workspace_analysis(platform, center, stiffness=stiffness)
    show(workspace_results(analysis), report)
    write_json(json, workspace_content(analysis))
