"""Bad input is refused with an error that says what is wrong."""

import pytest

from twin.errors import InputError


def refused(message=None, *, field=None):
    """Expect an `InputError` in the block that follows.

    Args:
        message: regular expression that its message has; messages begin with the field.
        field: the whole name of the field.
    """
    return pytest.raises(
        InputError, match=message, check=lambda error: field is None or error.field == field
    )


def assert_all_refused(call, cases):
    """Check that each case is refused, and name all that are not.

    A case holds the arguments of `call`, and as its last entry the message to expect.
    """
    accepted = []
    for *arguments, message in cases:
        try:
            with refused(message):
                call(*arguments)
        except (pytest.fail.Exception, AssertionError) as error:
            accepted.append(f"{arguments}: {error}")
    assert not accepted, "\n".join(accepted)


def assert_each_refused(call, wrong):
    """Check that each value of an option is refused under its name.

    Args:
        call: takes the option alone, by its name.
        wrong: lists of values by option.
    """
    assert_all_refused(
        lambda option, value: call(**{option: value}),
        [(option, value, option) for option in wrong for value in wrong[option]],
    )
