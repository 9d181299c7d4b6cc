"""The console command in this process, which has imported all libraries."""

import shlex

from typer.testing import CliRunner

from twin.cli import app


def console(line, *more, code=0, **options):
    """Run `twin LINE MORE` and return what it says and how it ends.

    It must end with the exit code `code`, where that is not None; options are the runner's.

    Args:
        line: of words, as on a console.
        more: words that follow as they are.
        code: the exit code.
        options: of the runner.
    """
    words = [*shlex.split(line), *map(str, more)]
    result = CliRunner().invoke(app, words, **options)
    told = f"{words}: {result.output}\n{result.exception!r}"
    assert code is None or result.exit_code == code, told
    return result
