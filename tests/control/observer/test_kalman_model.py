"""The observer's model of a leg: sampling, units and the printed matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import assert_all_refused
from scipy.linalg import expm

from twin.control.observer.kalman_observer import (
    discretise,
    disturbance_model,
    hardware,
    steady_gains,
    thesis_code,
    thesis_text,
)

MASSES = np.array([18.8, 27.87, 747.0])


@pytest.mark.parametrize("printed", [False, True])
def test_exact_sampling_is_the_matrix_exponential(printed):
    model = disturbance_model(MASSES, 3073.0, printed=printed)
    for period in (1e-3, 0.2):
        step = discretise(model, period)
        for k in range(len(MASSES)):
            inputs = np.column_stack([model.input[k], model.noise[k]])
            block = np.zeros((6, 6))
            block[:3, :3], block[:3, 3:] = model.dynamics[k], inputs
            exact = expm(block * period)
            assert_allclose(step.transition[k], exact[:3, :3], rtol=1e-13, atol=1e-16)
            assert_allclose(step.input[k], exact[:3, 3], rtol=1e-13, atol=1e-20)
            assert_allclose(step.noise[k], exact[:3, 4:], rtol=1e-13, atol=1e-16)


def test_first_order_matrices_are_the_printed_ones_but_for_the_friction():
    period, mass, largest = 1e-3, 27.87, 3073.0
    printed = discretise(disturbance_model(mass, largest, printed=True), period, "first_order")
    matrix = [[1, period, 0], [0, 1 - period / mass, -period / mass], [0, 0, 1]]
    assert_allclose(printed.transition[0], matrix, rtol=1e-15)
    assert_allclose(printed.input[0], [0, period / mass, 0], rtol=1e-15)
    noise = [[0, 0], [period / mass, 0], [0, period * largest]]
    assert_allclose(printed.noise[0], noise, rtol=1e-15)
    ours = discretise(disturbance_model(mass, largest), period, "first_order")
    assert ours.transition[0, 1, 1] == 1.0


def test_tustin_position_follows_a_slow_force_and_its_speed_is_half_a_period_late():
    mass, period, force = 18.8, 1e-3, 30.0
    step = discretise(disturbance_model(mass), period, "tustin")
    state = np.zeros(3)
    for k in range(400):
        position = step.output[0] @ state + step.feedthrough[0] * force
        late = period * (k - 0.5) * force / mass
        # The rule takes the force of the first instant as if it had acted for half a period.
        if k > 2:
            assert state[1] == pytest.approx(late + 0.5 * period * force / mass, rel=1e-9)
            assert position == pytest.approx(0.5 * force / mass * (k * period) ** 2, rel=2.0 / k)
        state = step.transition[0] @ state + step.input[0] * force


def test_code_in_millimetres_and_thousandths_of_newtons_has_the_gains_of_the_one_in_si():
    """Appendix A.3 as it stands: C = (1000, 0, 0), B = 0.001/m, Da = (0, 0, 1000) T."""
    from scipy.linalg import solve_discrete_are
    from scipy.signal import cont2discrete

    mass, period = 18.8, 1e-3
    a = np.array([[0, 1, 0], [0, 0, -1 / mass], [0, 0, 0]])
    b = np.array([[0.0], [1e-3 / mass], [0.0]])
    c = np.array([[1000.0, 0.0, 0.0]])
    phi, _, cd, _, _ = cont2discrete((a, b, c, np.zeros((1, 1))), period, "bilinear")
    noise = np.array([[0.0], [0.0], [1000.0]]) * period
    covariance = solve_discrete_are(phi.T, cd.T, noise @ noise.T * 1e9, np.array([[1e-5]]))
    gain = covariance @ cd.T / (cd @ covariance @ cd.T + 1e-5)
    ours = steady_gains(thesis_code(6)).gain[0]
    assert_allclose(ours, np.tile(1000.0 * gain[:, 0], (6, 1)), rtol=1e-6)


def test_text_and_code_assume_different_things():
    text, code = thesis_text(27.87, 3073.0), thesis_code(1)
    step = np.sqrt([text.process[0, 2, 2], code.process[0, 2, 2]])
    assert_allclose(step, [9717.7, 31622.8], rtol=1e-4)
    assert_allclose(
        np.sqrt([text.measurement[0], code.measurement[0]]), [1e-2, 3.162e-6], rtol=1e-3, atol=0
    )


def test_hardware_noise_follows_from_the_encoder():
    count = 5.08e-3 / 4096
    design = hardware(np.full(6, 746.0), count, 30.0)
    assert_allclose(np.sqrt(design.measurement), count / 12**0.5, rtol=1e-12)
    assert_allclose(np.sqrt(design.process[:, 2, 2]), 30.0, rtol=1e-12)
    assert not design.process[:, 1, 0].any() or (design.process[:, 1, 0] > 0).all()


@pytest.mark.parametrize("value", [np.nan, 0.0, -1.0, np.inf])
def test_bad_numbers_are_refused(value):
    assert_all_refused(
        lambda build, *numbers: build(*numbers),
        [
            (disturbance_model, value, None),
            (disturbance_model, 10.0, value, None),
            (discretise, disturbance_model(10.0), value, None),
            (thesis_text, value, 3000.0, None),
            (hardware, value, 1e-6, 1.0, None),
            (hardware, 10.0, value, 1.0, None),
            (hardware, 10.0, 1e-6, value, None),
        ],
    )


def test_bad_shapes_and_names_are_refused():
    assert_all_refused(
        lambda build, *numbers: build(*numbers),
        [
            (disturbance_model, np.ones((2, 2)), None),
            (disturbance_model, np.ones(3), np.ones(2), None),
            (discretise, disturbance_model(1.0), 1e-3, "euler", "euler"),
            (hardware, np.ones(3), 1e-6, np.ones(2), None),
            (thesis_code, 0, None),
        ],
    )
