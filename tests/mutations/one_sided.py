"""Mutations of one side: of the reference, or of one engine's model."""

from __future__ import annotations

from math import pi

from mutations.change import Change, Formula, Value, inertia, joint, one_leg, times, to
from mutations.run import Mutation, Side
from twin.kernels.integrators.dormand_prince import A

BULLET = "Bullet: largest relative error of projected forces"
MUJOCO = "MuJoCo: largest relative error of projected forces"

UPS = "twin.kernels.legs.ups.dynamics"
RSS = "twin.kernels.legs.rss.dynamics"
SERIES = "twin.kernels.legs.viscoelastic.dynamics"
STRUT = "twin.kernels.legs.strut.dynamics"
PILLAR = "twin.kernels.legs.pillar"

INTEGRATORS = "twin.engines.mujoco.settings.FIDELITY_INTEGRATORS"
EULER = {"accurate": "Euler", "fast": "Euler"}

A_WRONG = A.copy()
"""Weights of the integrator's stages; one of the last stage is wrong."""
A_WRONG[5, 2] *= 1.0 + 1e-6

PROJECTED = (
    (
        "stewart",
        "reference",
        "gyroscopic moment of the platform left out",
        Formula(
            "twin.kernels.dynamics.assembly.add_body",
            "cross(omega, body_tensor_times",
            "cross((0.0, 0.0, 0.0), body_tensor_times",
        ),
    ),
    ("stewart", "mujoco", "platform 1 % heavier", times("platform.body.mass", 1.01)),
    ("stewart", "mujoco", "platform joint 5 off by 1 mm", joint(5, (0.0, 1e-3, 0.0), "platform")),
    (
        "stewart",
        "mujoco",
        "rod: moment about its x axis 1 % larger",
        inertia("leg.rod.inertia", 0, 0, 1.01),
    ),
    ("stewart", "mujoco", "frame angle of the bodies reversed", to("leg.frame_angle", -pi / 2)),
    ("stewart", "bullet", "housings 1 % heavier", times("leg.housing.mass", 1.01)),
    (
        "stewart",
        "bullet",
        "platform: Ixy with the other sign",
        inertia("platform.body.inertia", 0, 1, -1.0),
    ),
    ("stewart", "bullet", "gravity 9.80665 m/s2", to("gravity", 9.80665)),
    ("stewart", "reference", "base joint 3 off by 1 mm", joint(3, (1e-3, 0.0, 0.0), "base")),
    ("stewart", "reference", "even legs not mirrored", to("leg.mirrored", ())),
    ("stewart", "reference", "gravity 9.80665 m/s2", to("gravity", 9.80665)),
    (
        "stewart",
        "reference",
        "Coriolis term of the rod with the other sign",
        Formula(f"{UPS}.general_response", "2.0 * motion.rate", "-2.0 * motion.rate"),
    ),
    (
        "srspm",
        "reference",
        "Coriolis term of the axisymmetric leg with the other sign",
        Formula(f"{UPS}.axisymmetric_response", "2.0 * lever", "-2.0 * lever"),
    ),
    (
        "srspm",
        "reference",
        "gyroscopic term of the axisymmetric leg left out",
        Formula(f"{UPS}.axisymmetric_response", "- spread * omega[1] * omega[2]", ""),
    ),
    (
        "srspm",
        "mujoco",
        "first axes of the universal joints along x",
        to("leg.first_axis", (1.0, 0.0, 0.0)),
    ),
    ("srspm", "bullet", "housings solid instead of tubes", to("leg.housing.inner_radius", 0.0)),
    ("srspm", "bullet", "rod of leg 4 alone 1 % longer", one_leg(4, "rod.length", 1.01)),
    ("rss", "mujoco", "rod of leg 2 alone of 1 % more density", one_leg(2, "rod.density", 1.01)),
    ("rss", "bullet", "cranks of 1 % larger radius", times("leg.crank.outer_radius", 1.01)),
    ("rss", "reference", "base joint 1 off by 1 mm", joint(1, (0.0, 0.0, 1e-3), "base")),
    (
        "rss",
        "reference",
        "centripetal acceleration of the elbow with the other sign",
        Formula(
            f"{RSS}.response",
            "subtract(scale(second_rate, q), scale(length",
            "add(scale(second_rate, q), scale(length",
        ),
    ),
    (
        "rss",
        "reference",
        "half of the rod's weight left out at the elbow",
        Formula(
            f"{RSS}.response",
            "tip_acceleration)), weight)\n    at_tip",
            "tip_acceleration)), (0.0, 0.0, 0.0))\n    at_tip",
        ),
    ),
    (
        "driving_simulator",
        "mujoco",
        "upper mass of leg 3 alone 1 % heavier",
        one_leg(3, "upper_mass", 1.01),
    ),
    (
        "driving_simulator",
        "bullet",
        "leg 1 off by 1 mm",
        joint(1, (1e-3, 0.0, 0.0), "base", "platform"),
    ),
    ("driving_simulator", "reference", "feet 1 % heavier", times("leg.foot_mass", 1.01)),
    (
        "driving_simulator",
        "reference",
        "Coriolis term of the feet with the other sign",
        Formula(
            f"{PILLAR}.dynamics.response",
            "mass * (bias[0] - gravity[0])",
            "mass * (-bias[0] - gravity[0])",
        ),
    ),
    ("compliant_stewart", "mujoco", "springs 1 % stiffer", times("leg.stiffness", 1.01)),
    ("compliant_stewart", "bullet", "dampers 1 % stronger", times("leg.damping", 1.01)),
    (
        "compliant_stewart",
        "bullet",
        "spring of leg 6 alone 1 % stiffer",
        one_leg(6, "stiffness", 1.01),
    ),
    (
        "compliant_stewart",
        "reference",
        "masses of the springs 1 % heavier",
        times("leg.spring_mass", 1.01),
    ),
    (
        "compliant_stewart",
        "reference",
        "Coriolis term of the leg's direction with the other sign",
        Formula(
            f"{SERIES}.response",
            "subtract(subtract(tip_acceleration, scale(axial, along)), scale(2.0",
            "add(subtract(tip_acceleration, scale(axial, along)), scale(2.0",
        ),
    ),
    (
        "compliant_stewart",
        "reference",
        "spring's own weight counted whole on its end",
        Formula(f"{SERIES}.deflection_acceleration", "(0.5 * m1 + m2) * dot", "(m1 + m2) * dot"),
    ),
    (
        "micro_hexapod",
        "mujoco",
        "stiffness taken as 20 kN/m: a unit",
        times("leg.axial.stiffness", 1e-3),
    ),
    (
        "micro_hexapod",
        "bullet",
        "spring of leg 2 alone 1 % stiffer",
        one_leg(2, "axial.stiffness", 1.01),
    ),
    (
        "micro_hexapod",
        "reference",
        "struts relaxed 1 um longer",
        to("leg.axial.rest_length", 0.2793 + 1e-6),
    ),
    (
        "micro_hexapod",
        "reference",
        "damping with the other sign",
        Formula(f"{STRUT}.response", "+ legs[i, DAMPING]", "- legs[i, DAMPING]"),
    ),
)
"""Machine, side, what is wrong, change: found by the projection."""

LAWS = (
    Mutation(
        "stewart",
        "reference",
        "inverse dynamics takes the wrench with the other sign",
        Formula("twin.kernels.dynamics.inverse.inverse_dynamics", "- wrench[i]", "+ wrench[i]"),
        "reference",
        "forces: inverse dynamics",
    ),
    Mutation(
        "stewart",
        "reference",
        "Coriolis term of the rod with the other sign",
        Formula(f"{UPS}.general_response", "2.0 * motion.rate", "-2.0 * motion.rate"),
        "reference",
        "power balance",
    ),
    Mutation(
        "compliant_stewart",
        "reference",
        "energy stored in springs without its half",
        Formula(f"{SERIES}.leg_energy", "stored = 0.5 *", "stored ="),
        "reference",
        "power balance",
    ),
    Mutation(
        "rss",
        "reference",
        "kinetic energy of the rod as that of two masses at its ends",
        Formula(f"{RSS}.leg_energy", "+ dot(elbow, tip)", ""),
        "reference",
        "kinetic energy against",
    ),
    Mutation(
        "stewart",
        "reference",
        "arms of the Jacobian with the other sign",
        Formula("twin.kernels.kinematics.jacobian.jacobian", "cross(arm, w)", "cross(w, arm)"),
        "reference",
        "actuator rates: Jacobian",
    ),
    Mutation(
        "rss",
        "reference",
        "rate of the crank's gain left out of the Jacobian's derivative",
        Formula(
            "twin.kernels.legs.rss.kinematics.crank_rates",
            "gain_rate = length",
            "gain_rate = 0.0 * length",
        ),
        "reference",
        "actuator accelerations",
    ),
    Mutation(
        "rss",
        "reference",
        "forward kinematics stops at 1e-4",
        Value("twin.kernels.kinematics.forward.CONVERGED", 1e-4),
        "reference",
        "forward kinematics from home, residual",
    ),
    Mutation(
        "stewart",
        "reference",
        "forward kinematics stops at 1e-9",
        Value("twin.kernels.kinematics.forward.CONVERGED", 1e-9),
        "reference",
        "forward kinematics from home, residual",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "Euler's method for Runge-Kutta's",
        Value(INTEGRATORS, EULER),
        "constant_forces",
        "MuJoCo: largest position error",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "constant_forces",
        "MuJoCo: largest position error",
    ),
    Mutation(
        "srspm",
        "mujoco",
        "loops closed ten times softer",
        Formula("twin.engines.mjcf.robot.loop_solref", "2.0 * timestep", "20.0 * timestep"),
        "constraint_settings",
        "MuJoCo, tuned: largest loop gap",
    ),
    Mutation(
        "stewart",
        "bullet",
        "gravity 1 % smaller",
        Formula(
            "twin.engines.bullet.world.World.feel", "field.tolist()", "(0.99 * field).tolist()"
        ),
        "free_fall",
        "Bullet: largest position error",
    ),
    Mutation(
        "stewart",
        "bullet",
        "platform: moment about z 1 % larger",
        inertia("platform.body.inertia", 2, 2, 1.01),
        "sinusoidal_forces",
        "Bullet: largest rotation error",
    ),
    Mutation(
        "rss",
        "bullet",
        "rods 1 % heavier",
        times("leg.rod.density", 1.01),
        "free_fall",
        "Bullet: largest position error",
    ),
    Mutation(
        "driving_simulator",
        "bullet",
        "extrapolation with the weights of another order",
        Value(
            "twin.engines.bullet.engine.WEIGHTS",
            {"accurate": (1 / 3, -2.0, 8 / 3 - 0.1), "fast": (1.0,)},
        ),
        "constant_forces",
        "Bullet: largest position error",
    ),
    Mutation(
        "stewart",
        "reference",
        "products in the parallel-axis theorem with the other sign",
        Formula("twin.machine.body.parallel_axis", "- np.outer", "+ np.outer"),
        "machine_data",
        "mass matrix of the reference",
    ),
    Mutation(
        "stewart",
        "reference",
        "a weight of the Runge-Kutta method off by 1e-6",
        Value("twin.kernels.integrators.dormand_prince.A", A_WRONG),
        "reference",
        "energy drift",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "platform: moment about x 1 % larger",
        inertia("platform.body.inertia", 0, 0, 1.01),
        "free_fall",
        "MuJoCo: largest rotation error",
    ),
    Mutation(
        "rss",
        "mujoco",
        "cranks 1 % denser",
        times("leg.crank.density", 1.01),
        "free_fall",
        "MuJoCo: largest position error",
    ),
    Mutation(
        "stewart",
        "bullet",
        "rods: centre of mass 1 mm to the side",
        to("leg.rod.center_of_mass", (-0.054, -0.055, -0.4344)),
        "free_fall",
        "Bullet: largest rotation error",
    ),
    Mutation(
        "compliant_stewart",
        "mujoco",
        "springs 1 % stiffer",
        times("leg.stiffness", 1.01),
        "sinusoidal_forces",
        "MuJoCo: largest position error",
    ),
    Mutation(
        "stewart",
        "bullet",
        "gaps of loops not corrected",
        Value("twin.engines.bullet.world.CORRECTION", 0.0),
        "constraint_settings",
        "Bullet, tuned, plain steps: largest loop gap",
    ),
    Mutation(
        "stewart",
        "reference",
        "inverse dynamics without velocity terms",
        Formula(
            "twin.model.machine_model.MachineModel.inverse_dynamics",
            "pose,\n        twist,\n        deflection,",
            "pose,\n        0.0 * np.asarray(twist),\n        deflection,",
        ),
        "driven_motion",
        "work of the forces less gain of energy and losses at any time",
    ),
    Mutation(
        "micro_hexapod",
        "reference",
        "dissipated power 1 % too large",
        Formula(
            "twin.model.machine_model.MachineModel.dissipation",
            "deflection)[..., 2]",
            "deflection)[..., 2] * 1.01",
        ),
        "driven_motion",
        "work of the forces less gain of energy and losses at the end",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "Euler's method for Runge-Kutta's",
        Value(INTEGRATORS, EULER),
        "convergence",
        "MuJoCo, accurate fidelity",
    ),
    Mutation(
        "stewart",
        "bullet",
        "extrapolation from two steps for three",
        Value("twin.engines.bullet.engine.WEIGHTS", {"accurate": (-1.0, 2.0, 0.0), "fast": (1.0,)}),
        "convergence",
        "Bullet, extrapolated: order",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "closed_loop",
        "MuJoCo: platform in closed loop",
    ),
    Mutation(
        "driving_simulator",
        "reference",
        "a weight of the Runge-Kutta method off by 1e-6",
        Value("twin.kernels.integrators.dormand_prince.A", A_WRONG),
        "free_fall",
        "reference: energy drift",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "one loop left open",
        Formula(
            "twin.engines.mjcf.robot._add_loops_and_motors",
            "in machine.loops:",
            "in machine.loops[1:]:",
        ),
        "published",
        "degrees of freedom",
    ),
    Mutation(
        "srspm",
        "bullet",
        "rods 1 % denser",
        times("leg.rod.density", 1.01),
        "sinusoidal_forces",
        "Bullet: largest position error",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "driven_motion",
        "MuJoCo: largest position error",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "platform: moment about z 1 % larger",
        inertia("platform.body.inertia", 2, 2, 1.01),
        "driven_motion",
        "MuJoCo: largest rotation error",
    ),
    Mutation(
        "stewart",
        "bullet",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "driven_motion",
        "Bullet: largest position error",
    ),
    Mutation(
        "stewart",
        "bullet",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "convergence",
        "Bullet, plain steps: order",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "convergence",
        "MuJoCo, fast fidelity (Euler): order",
    ),
    Mutation(
        "stewart",
        "mujoco",
        "loops as soft as MuJoCo comes with",
        Formula(
            "twin.engines.mujoco.settings.make_settings",
            "if engine_defaults else loop_solref(timestep)\n"
            "    own_solimp = DEFAULT_SOLIMP if engine_defaults else LOOP_SOLIMP",
            "\n    own_solimp = DEFAULT_SOLIMP",
        ),
        "constraint_settings",
        "MuJoCo, tuned: position error, times smaller",
    ),
    Mutation(
        "rss",
        "bullet",
        "gaps of loops not corrected",
        Value("twin.engines.bullet.world.CORRECTION", 0.0),
        "constraint_settings",
        "Bullet, tuned, extrapolated: largest loop gap",
    ),
    Mutation(
        "stewart",
        "bullet",
        "weights of the extrapolation do not add up to one",
        Value(
            "twin.engines.bullet.engine.WEIGHTS", {"accurate": (1 / 3, -2.0, 2.66), "fast": (1.0,)}
        ),
        "constraint_settings",
        "Bullet, tuned, extrapolated: position error, times smaller",
    ),
    Mutation(
        "stewart",
        "bullet",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "closed_loop",
        "Bullet: platform in closed loop",
    ),
    Mutation(
        "stewart",
        "reference",
        "supervisor's bound of the error 1000 times too tight",
        Formula(
            "twin.control.supervisor.Supervisor.check_measurement",
            "error <= self.following)",
            "1e3 * error <= self.following)",
        ),
        "closed_loop",
        "safe stops along the heave",
    ),
    Mutation(
        "stewart",
        "reference",
        "a safe stop goes on at the speed at which it began",
        Formula(
            "twin.control.loop.stop.SafeStop.command",
            "share * self._from, brakes=self._brakes if braking else None",
            "self._from",
        ),
        "closed_loop",
        "sensor dropout: actuators' speed",
    ),
)
"""Found by laws, motions and numbers."""

OWN_CASES: tuple[tuple[str, Side, str, Change, str, str], ...] = (
    (
        "stewart",
        "mujoco",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "thesis_motion",
        "MuJoCo: largest position error",
    ),
    (
        "stewart",
        "bullet",
        "rods 1 % heavier",
        times("leg.rod.mass", 1.01),
        "tank_motion",
        "Bullet: largest position error",
    ),
    (
        "rss",
        "mujoco",
        "rods 1 % denser",
        times("leg.rod.density", 1.01),
        "rss_free_fall",
        "MuJoCo: largest position error",
    ),
    (
        "rss",
        "bullet",
        "platform 1 % heavier",
        times("platform.body.mass", 1.01),
        "rss_tasks",
        "Bullet: largest position error",
    ),
    (
        "micro_hexapod",
        "mujoco",
        "struts 1 % stiffer",
        times("leg.axial.stiffness", 1.01),
        "micro_hexapod",
        "commanded pose against the one reached, gravity off, MuJoCo",
    ),
    (
        "micro_hexapod",
        "reference",
        "struts 1 % stiffer",
        times("leg.axial.stiffness", 1.01),
        "frequency_response",
        "compliance along x, mujoco",
    ),
    (
        "micro_hexapod",
        "reference",
        "struts 1 % stiffer",
        times("leg.axial.stiffness", 1.01),
        "active_damping",
        "iff in mujoco",
    ),
    (
        "compliant_stewart",
        "reference",
        "springs 1 % stiffer",
        times("leg.stiffness", 1.01),
        "compliant_systems",
        "free system against",
    ),
)
"""Found by cases of one machine or of one kind of legs."""

MUTATIONS = (
    *(
        Mutation(*entry, "projection", BULLET if entry[1] == "bullet" else MUJOCO)  # type: ignore[arg-type]
        for entry in PROJECTED
    ),
    *LAWS,
    *(Mutation(*entry) for entry in OWN_CASES),
)
