"""Files that keep compiled kernels, renewed when the source of any kernel they call has changed."""

from __future__ import annotations

import hashlib
import pickle
import re
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import Cache, FunctionCache, IndexDataCacheFile

from twin.errors import TwinWarning

CHECKSUM_BYTES = 4
"""At the beginning of a file."""


class KernelFiles(IndexDataCacheFile):
    """The compiled versions of one kernel: a file for each combination of types and processor.

    Numba numbers these files and keeps the numbers in an index. Two processes that compile at once
    can take the same number, and one kernel then runs in place of another. Here the name follows
    from the types, and each file says what it is for.
    """

    def __init__(self, folder: str, name: str, stamp: Any) -> None:
        """Take the folder, what all names begin with, and the state of the source."""
        super().__init__(folder, name, stamp)
        self._begin = name

    def flush(self) -> None:
        """Remove all files."""
        for path in Path(self._cache_path).glob(f"{self._begin}.*.nbc"):
            path.unlink(missing_ok=True)

    def save(self, key: Any, data: Any) -> None:
        """Write what has been compiled for a key: types, processor and instructions of Python."""
        state = pickle.dumps((numba.__version__, self._source_stamp))
        content = state + self._dump((key, data))
        with self._open_for_write(self._data_path(self._name(key))) as file:
            file.write(zlib.crc32(content).to_bytes(CHECKSUM_BYTES, "little") + content)

    def load(self, key: Any) -> Any:
        """Return what `save` has written; None where there is nothing, or nothing of this source.

        A damaged file, or one that names types which have moved since, is of no use either.
        """
        try:
            content = Path(self._data_path(self._name(key))).read_bytes()
            checksum, content = content[:CHECKSUM_BYTES], content[CHECKSUM_BYTES:]
            if int.from_bytes(checksum, "little") != zlib.crc32(content):
                return None
            stream = BytesIO(content)
            if pickle.load(stream) != (numba.__version__, self._source_stamp):
                return None
            found, data = pickle.load(stream)
        except Exception:  # a type that has moved or changed raises anything
            return None
        return data if found == key else None

    def _name(self, key: Any) -> str:
        return f"{self._begin}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"


class KernelCache(FunctionCache):
    """The cache of a kernel: whatever fails with its files, the kernel is compiled and runs."""

    has_warned = False
    """whether the process has said that files cannot be written"""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled version; None where there is none of use."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # numba and LLVM raise anything for instructions of other versions
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled version, as far as folder and disk allow."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # numba cannot write what an interrupt left half compiled
            if not KernelCache.has_warned:
                KernelCache.has_warned = True
                reason = getattr(error, "strerror", None) or error
                warnings.warn(
                    f"cannot keep compiled equations in {self.cache_path} ({reason}): "
                    "other processes compile them again",
                    TwinWarning,
                    stacklevel=2,
                )


def keep_by_types(kernel: Any, function: Callable[..., Any]) -> None:
    """Let the kernel of a function keep its compiled versions in `KernelFiles`.

    Numba compares a cached function with its own file alone, and would go on using it after a
    function that it calls has changed in another file.
    """
    kept: Any = getattr(kernel, "_cache", None)
    if not isinstance(kept, Cache):
        return  # numba is told not to compile
    if not isinstance(kept, KernelCache):
        kept = kernel._cache = KernelCache(function)
    stamp = (kept._impl.locator.get_source_stamp(), _stamps(function.__module__))
    kept._cache_file = KernelFiles(kept.cache_path, kept._impl.filename_base, stamp)


NUMBERS = [
    f"{__package__}.numbers.{file.stem}"
    for file in sorted(Path(__file__).with_name("numbers").glob("*.py"))
]
"""Modules of the numbers that any kernel may be compiled for: it does not import them."""

IMPORT = re.compile(r"^from (twin\.[\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


@cache
def called_modules(module: str) -> frozenset[str]:
    """Return a kernel's module, those of numbers, and all kernels that these import."""
    found, waiting = {module, *NUMBERS}, [module, *NUMBERS]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def _imported(module: str) -> frozenset[str]:
    """Return the modules in packages called `kernels` that a module imports."""
    source = _file(module).read_text(encoding="utf-8")
    names = set()
    for package, imported in IMPORT.findall(source):
        if "kernels" in package.split("."):
            names.add(package)
            names |= {f"{package}.{name}" for name in re.findall(r"\w+", imported)}
    return frozenset(name for name in names if _file(name).is_file())


def _file(module: str) -> Path:
    """Return the source file of a module of this package."""
    path = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    package = path / "__init__.py"
    return package if package.is_file() else path.with_suffix(".py")


@cache
def _stamps(module: str) -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of all source files whose kernels those of a module may call."""
    names = sorted(called_modules(module) | {f"{__package__}.jit", f"{__package__}.linking"})
    stats = [(name, _file(name).stat()) for name in names]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)
