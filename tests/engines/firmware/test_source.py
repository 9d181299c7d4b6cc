"""Kinematics in C: compiled as firmware engineers do, the numbers of the kernels."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from package_walk import ROOT
from redundant import redundant_machine
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.engines.export import export
from twin.machine.machine import parameters_path
from twin.rotations import displaced, pose_from_angles

WARNINGS = "-Wall -Wextra -Werror -Wconversion -Wdouble-promotion -pedantic -ffreestanding"

TOLERANCES = {"double": 1e-12, "float": 1e-5}
"""Largest difference from the kernels, in parts of the largest entry."""

MACHINES = (
    "stewart",
    "srspm",
    "rss",
    "micro_hexapod",
    "compliant_stewart",
    "redundant",
    "linuxcnc_hexapod",
)

IN_PLANES = ("tripod", "balancer")

COUNT = 10_000

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def search_type(real):
    """Return the type of the result of forward kinematics."""
    fields = [("converged", ctypes.c_int), ("iterations", ctypes.c_int), ("residual", real)]
    return type("Search", (ctypes.Structure,), {"_fields_": fields})


class Compiled:
    """The exported functions of a machine, on NumPy's arrays."""

    def __init__(self, platform, folder, precision):
        source, _ = export(platform, "c", folder, precision=precision)
        library = folder / "machine.so"
        command = ["cc", "-std=c99", "-O2", *WARNINGS.split(), "-shared", "-fPIC"]
        subprocess.run([*command, str(source), "-o", str(library), "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.name = source.stem.removesuffix("_kinematics")
        self.dtype = np.dtype(np.float64 if precision == "double" else np.float32)
        self.real = ctypes.c_double if precision == "double" else ctypes.c_float
        self.count = platform.n_actuators
        self.legs = self.symbol("legs")

    def symbol(self, name):
        """Return where an exported object lies."""
        return ctypes.byref(ctypes.c_char.in_dll(self.library, f"{self.name}_{name}"))

    def call(self, name, *arguments, result=ctypes.c_int):
        """Return the result of an exported function; arrays are handed over by address."""
        function = self.library[f"{self.name}_{name}"]
        function.restype = result
        pointers = [
            one.ctypes.data_as(ctypes.c_void_p) if isinstance(one, np.ndarray) else one
            for one in arguments
        ]
        return function(*pointers)

    def home(self):
        """Return the home pose in the source."""
        values = ctypes.cast(self.symbol("home"), ctypes.POINTER(self.real))
        return np.array(values[:7])

    def inverse_kinematics(self, pose):
        """Return the result and the coordinates."""
        found = np.empty(self.count, self.dtype)
        return self.call("inverse_kinematics", self.legs, pose.astype(self.dtype), found), found

    def jacobian(self, pose):
        """Return the Jacobian of a pose that all legs reach."""
        found = np.empty((self.count, 6), self.dtype)
        assert self.call("jacobian", self.legs, pose.astype(self.dtype), found) == 0
        return found

    def forward_kinematics(self, coordinates, guess):
        """Return the result of the search and the pose."""
        pose = guess.astype(self.dtype)
        given = coordinates.astype(self.dtype)
        search = self.call(
            "forward_kinematics", self.legs, given, pose, result=search_type(self.real)
        )
        return search, pose

    def onto_planes(self, pose):
        """Return the result and the pose on the planes of all legs."""
        moved = pose.astype(self.dtype)
        return self.call("onto_planes", self.legs, moved), moved

    def outside_limits(self, coordinates):
        """Return the first leg outside its limits, or 0."""
        return self.call("outside_limits", self.legs, coordinates.astype(self.dtype))

    def set_pose(self, position, angles):
        """Return the pose of a position and of yaw, pitch and roll."""
        pose = np.empty(7, self.dtype)
        reals = [self.real(angle) for angle in angles]
        self.call("set_pose", pose, np.array(position, self.dtype), *reals, result=None)
        return pose


def difference(found, expected):
    """Return the largest difference in parts of the largest entry."""
    return max_abs(found - expected) / max_abs(expected)


def machine_of(name):
    """Return a shipped machine, or one with eight legs."""
    return redundant_machine(8) if name == "redundant" else twin.load(name)


@pytest.fixture(params=["float", pytest.param("double", marks=pytest.mark.slow)])
def precision(request):
    return request.param


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name != "stewart"))
        for name in (*MACHINES, *IN_PLANES)
    ],
)
def test_source_computes_what_kernels_compute(name, precision, tmp_path):
    platform, tolerance = machine_of(name), TOLERANCES[precision]
    compiled = Compiled(platform, tmp_path, precision)
    reach = 0.02 * np.ptp([platform.minimum_coordinates, platform.maximum_coordinates])
    if platform.coordinate_unit == "rad":
        reach *= platform.parameters.mean_arm
    shifts = np.random.default_rng(4).uniform(-1.0, 1.0, (COUNT, 6)) * [*[reach] * 3, *[0.05] * 3]
    # Numbers of this type, so that rounding the pose is no difference.
    poses = platform.constrain(displaced(platform.home, shifts)).pose
    poses = poses.astype(compiled.dtype).astype(float)
    if platform.dof < 6:  # rounded to single precision, they are off the planes
        poses = platform.constrain(poses).pose
    coordinates = platform.inverse_kinematics(poses)
    jacobians = platform.jacobian(poses)
    found = [compiled.inverse_kinematics(pose) for pose in poses]
    assert {failed for failed, _ in found} == {0}
    assert difference(np.array([values for _, values in found]), coordinates) < tolerance
    jacobians_found = np.array([compiled.jacobian(pose) for pose in poses])
    assert difference(jacobians_found, jacobians) < tolerance
    searches = [
        compiled.forward_kinematics(*given)
        for given in zip(coordinates, np.roll(poses, 1, axis=0), strict=True)
    ]
    assert all(search.converged and search.iterations <= 10 for search, _ in searches)
    reached = np.array([pose for _, pose in searches], float)
    assert_within(reached, poses, 100.0 * tolerance)
    reached[:, 3:] /= np.linalg.norm(reached[:, 3:], axis=1, keepdims=True)
    reached = platform.constrain(reached).pose
    # An angle is computed to the rounding of its full range.
    scale = np.pi if platform.coordinate_unit == "rad" else coordinates.max()
    assert_within(platform.inverse_kinematics(reached), coordinates, tolerance * scale)


@pytest.mark.quick
def test_what_cannot_be_reached_is_named(stewart, tmp_path):
    compiled = Compiled(stewart, tmp_path, "double")
    assert_array_equal(compiled.home(), stewart.home)
    middle = 0.5 * (stewart.minimum_coordinates + stewart.maximum_coordinates)
    assert compiled.outside_limits(middle) == 0
    for leg in range(6):
        for limit, sign in (
            (stewart.minimum_coordinates, -1.0),
            (stewart.maximum_coordinates, 1.0),
        ):
            coordinates = middle.copy()
            coordinates[leg] = limit[leg] + 1e-6 * sign
            assert compiled.outside_limits(coordinates) == leg + 1
    search, _ = compiled.forward_kinematics(10.0 * middle * [1, 1, 1, 1, 1, 0.01], stewart.home)
    assert not search.converged
    middle[2] = np.nan
    search, pose = compiled.forward_kinematics(middle, stewart.home)
    assert not search.converged
    assert_array_equal(pose, stewart.home)
    assert compiled.outside_limits(middle) == 3
    cranks = Compiled(twin.load("rss"), tmp_path / "rss", "double")
    far = cranks.home()
    far[2] += 10.0
    assert cranks.inverse_kinematics(far)[0] == 1


@pytest.mark.quick
@pytest.mark.parametrize("name", IN_PLANES)
def test_poses_are_moved_onto_the_planes(name, precision, tmp_path):
    platform, tolerance = twin.load(name), TOLERANCES[precision]
    compiled = Compiled(platform, tmp_path, precision)
    shifts = np.random.default_rng(6).uniform(-0.01, 0.01, (200, 6)) * [1, 1, 1, 20, 20, 20]
    for pose in displaced(platform.home, shifts):
        failed, moved = compiled.onto_planes(pose)
        assert failed == 0
        assert_within(moved, platform.constrain(pose).pose, 10.0 * tolerance)
        assert compiled.inverse_kinematics(moved)[0] == 0
    off = platform.home + 0.01 * np.eye(7)[0]
    missed = np.abs(platform.first_axes[:, 0]) > 1e-3
    assert compiled.inverse_kinematics(off)[0] == -1 - int(np.argmax(missed))
    off[0] = np.nan
    assert compiled.onto_planes(off)[0] != 0


@pytest.mark.quick
def test_angles_are_yaw_pitch_roll(stewart, tmp_path):
    compiled = Compiled(stewart, tmp_path, "double")
    position, angles = [0.1, -0.2, 0.9], [0.3, -0.2, 0.1]
    expected = pose_from_angles(position, angles, "yaw_pitch_roll")
    assert_within(compiled.set_pose(position, angles), expected, 1e-15)


@pytest.mark.quick
def test_a_title_cannot_break_the_source(tmp_path):
    text = parameters_path("stewart").read_text(encoding="utf-8")
    file = tmp_path / "platform.toml"
    file.write_text(text.replace('title = "', 'title = "*/ /* @hash@ #error ', 1), encoding="utf-8")
    compiled = Compiled(twin.load(file), tmp_path, "float")
    assert compiled.inverse_kinematics(compiled.home())[0] == 0


@pytest.mark.quick
def test_what_c_cannot_have_is_refused(stewart, tmp_path):
    with refused("stands on pillars"):
        export(twin.load("driving_simulator"), "c", tmp_path)
    with refused("unknown precision 'half'"):
        export(stewart, "c", tmp_path, precision="half")
    with refused("fmi: the format c has no such option"):
        export(stewart, "c", tmp_path, fmi=3)


STUBS = """
#include <stdio.h>
#include "rss_kinematics.h"
void setup(void);
void loop(void);
static int period = -1;
void wait_for_period(void) { period++; }
int read_request(rss_real position[3], rss_real angles[3])
{
    int k;
    for (k = 0; k < 3; k++)
        position[k] = angles[k] = 0;
    if (period < 2)
        position[2] = (rss_real)0.02;
    else
        position[2] = 10;
    return 1;
}
void write_pulse(int leg, rss_real pulse) { printf("%d %d %.3f\\n", period, leg, (double)pulse); }
void report_leg(int leg) { printf("%d %d nan\\n", period, leg); }
int main(void)
{
    setup();
    while (period < 2)
        loop();
    return 0;
}
"""


@pytest.mark.quick
def test_the_sketch_of_servos_moves_them(tmp_path):
    """It goes 20 mm up in steps of 0.06 rad at most, and stays when it is sent out of reach."""
    machine = twin.load("rss")
    source, _ = export(machine, "c", tmp_path, precision="float")
    stubs = tmp_path / "stubs.c"
    stubs.write_text(STUBS, encoding="utf-8")
    sketch = ROOT / "examples" / "firmware" / "servo_platform.c"
    program = tmp_path / "servo_platform"
    files = [str(file) for file in (sketch, source, stubs)]
    command = ["cc", "-std=c99", *WARNINGS.split(), f"-I{tmp_path}", *files, "-lm", "-o"]
    subprocess.run([*command, str(program)], check=True)
    printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in printed.splitlines()]
    refused = [row for row in rows if row[2] == "nan"]
    assert refused == [["2", "1", "nan"]]
    pulses = np.array([float(row[2]) for row in rows if row[2] != "nan"]).reshape(3, 6)
    angles = (pulses - 1500.0) / (637.0 * np.array([1, -1, 1, -1, 1, -1]))
    wanted = machine.inverse_kinematics(machine.home + 0.02 * np.eye(7)[2])
    first = np.clip(wanted, machine.home_coordinates - 0.06, machine.home_coordinates + 0.06)
    assert_within(angles[0], first, 1e-5)
    assert_within(angles[1], wanted, 1e-5)
    assert_array_equal(pulses[2], pulses[1])
