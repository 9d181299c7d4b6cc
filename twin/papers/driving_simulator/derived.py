"""Results of symbolic derivations, kept on disk under the source text that they come from.

Deriving takes seconds, reading milliseconds. A result is read only if the text of the modules that
derive it, its arguments and the versions of sympy, numpy and Python are those it was made with.
Files lie next to the modules' bytecode, and whoever may write there may change the program itself.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, version
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from twin.basics.files import write_atomically
from twin.basics.optional import optional
from twin.errors import InputError

Result = TypeVar("Result")

READ_ERRORS = (
    OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError, ValueError,
)  # fmt: skip
"""Errors of a file that is missing or was cut off."""


def cached_derivation(*modules: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Return a decorator of a derivation, whose results are kept in memory and on disk.

    Args:
        modules: names of the modules, other than the function's own, that the result depends on.

    Raises:
        MissingDependencyError: from the function: sympy is not installed.
    """

    def decorator(derive: Callable[..., Result]) -> Callable[..., Result]:
        @cache
        @wraps(derive)
        def read_or_derived(*arguments: Any) -> Result:
            names = (derive.__module__, __name__, *modules)
            path = _place(derive, names, arguments)
            try:
                cached_result: Result = pickle.loads(path.read_bytes())
            except READ_ERRORS:
                cached_result = derive(*arguments)
                _write(path, cached_result)
            return cached_result

        return read_or_derived

    return decorator


def code_of(arguments: Any, expressions: Any) -> str:
    """Return the source text of a function of numbers, or arrays, for `function_of`."""
    function = optional("sympy").lambdify(arguments, expressions, modules="numpy", cse=True)
    return inspect.getsource(function)


@cache
def function_of(code: str) -> Callable[..., Any]:
    """Return the function that `code_of` wrote."""
    names: dict[str, Any] = dict(vars(np))
    exec(compile(code, "<derived>", "exec"), names)
    function: Callable[..., Any] = names["_lambdifygenerated"]
    return function


def _place(derive: Callable[..., Any], modules: tuple[str, ...], arguments: Any) -> Path:
    """Return the file of a result; its name holds everything that the result depends on."""
    versions = f"{_version('sympy')} {_version('numpy')} {sys.version}"
    text = "\n".join([versions, repr(arguments), *map(_source, modules)])
    key = hashlib.sha256(text.encode()).hexdigest()[:24]
    module: ModuleType = sys.modules[derive.__module__]
    bytecode = Path(cache_from_source(str(module.__file__)))
    return bytecode.parent / f"{derive.__name__}-{key}.pickle"


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # deriving says what to install
        return ""


def _source(module: str) -> str:
    return Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8")


def _write(path: Path, result: Any) -> None:
    """Keep a result if the folder can be written to."""
    try:
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, lambda file: file.write(pickle.dumps(result)))
    except (InputError, OSError):
        return
