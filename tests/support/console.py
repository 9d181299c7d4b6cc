"""The console command in this process, which has imported all libraries."""

from typer.testing import CliRunner

from twin.cli import app


def console(*arguments, code=0, **options):
    """Run `twin ARGUMENTS` and return what it says and how it ends.

    It must end with the exit code `code`, where that is not None; options are the runner's.
    """
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    told = f"{arguments}: {result.output}\n{result.exception!r}"
    assert code is None or result.exit_code == code, told
    return result
