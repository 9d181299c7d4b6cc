"""Compiling: decorators, the cache of machine code, and running the same code uncompiled.

By itself numba optimises every function with all that it calls, makes machine code of it, and does
so again in each function that calls it. Functions under `device` need neither: their instructions
are linked into the kernel that calls them, and optimised there, once.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import pickle
import re
import sys
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from secrets import randbits
from types import CellType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, ParamSpec, TypeVar

import numba
from llvmlite import binding
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import Cache, CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.extending import overload

from twin.errors import TwinWarning

CHECKSUM_BYTES = 4
"""Length of the checksum at the beginning of a cache file."""

NUMBER_MODULES = [
    f"{__package__}.numbers.{file.stem}"
    for file in sorted(Path(__file__).with_name("numbers").glob("*.py"))
]
"""Modules of the numbers that any kernel may be compiled for: it does not import them."""

IMPORT_PATTERN = re.compile(r"^from (twin\.[\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)

SKIPPED_PASSES = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "InlineOverloads",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "NopythonRewrites",
    "DumpParforDiagnostics",
    "AnnotateTypes",
}
"""Passes of numba for contexts, closures, errors with values, loops over tuples of several types
and expressions of arrays, which linked functions do not have, and for listings of types."""

P = ParamSpec("P")

R = TypeVar("R")

COMPILER_OPTIONS: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "nogil": True,
    "fastmath": {"contract"},
}
"""`contract` lets the compiler fuse a multiplication with an addition (one rounding less); nothing
is reordered, so results do not depend on the batch size or the number of threads."""

WITHOUT_COUNTING: dict[str, Any] = {"_nrt": False}
"""Option for functions that allocate no arrays: they need no reference counting, which for every
leg would take a third of the time of the dynamics."""

IMPLEMENTATION_CHOOSERS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Stub function -> function that chooses its implementation by argument types."""

TYPED_REPLACEMENTS: dict[
    Callable[..., Any], list[tuple[Callable[..., bool], Callable[..., Any]]]
] = {}
"""Replaceable function -> (test of the argument types, replacement) pairs."""


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
        source_state = pickle.dumps((numba.__version__, self._source_stamp))
        file_bytes = source_state + self._dump((key, data))
        with self._open_for_write(self._data_path(self._name(key))) as file:
            file.write(zlib.crc32(file_bytes).to_bytes(CHECKSUM_BYTES, "little") + file_bytes)

    def load(self, key: Any) -> Any:
        """Return what `save` has written; None where there is nothing, or nothing of this source.

        A damaged file, or one that names types which have moved since, is of no use either.
        """
        try:
            file_bytes = Path(self._data_path(self._name(key))).read_bytes()
            checksum, file_bytes = file_bytes[:CHECKSUM_BYTES], file_bytes[CHECKSUM_BYTES:]
            if int.from_bytes(checksum, "little") != zlib.crc32(file_bytes):
                return None
            stream = BytesIO(file_bytes)
            if pickle.load(stream) != (numba.__version__, self._source_stamp):
                return None
            stored_key, data = pickle.load(stream)
        except Exception:  # a type that has moved or changed raises anything
            return None
        return data if stored_key == key else None

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


def keep_by_types(kernel: Any, function: Callable[..., Any], cache_type: type[KernelCache]) -> None:
    """Store a kernel's compiled versions in `KernelFiles`.

    Numba compares a cached function with its own file alone, and would go on using it after a
    function that it calls has changed in another file.
    """
    if not isinstance(getattr(kernel, "_cache", None), Cache):
        return  # numba is told not to compile
    kernel_cache: Any = cache_type(function)
    kernel._cache = kernel_cache
    source_stamp = (kernel_cache._impl.locator.get_source_stamp(), _stamps(function.__module__))
    kernel_cache._cache_file = KernelFiles(
        kernel_cache.cache_path, kernel_cache._impl.filename_base, source_stamp
    )


@cache
def called_modules(module: str) -> frozenset[str]:
    """Return a kernel's module, those of numbers, and all kernels that these import."""
    reached_modules, pending_modules = {module, *NUMBER_MODULES}, [module, *NUMBER_MODULES]
    while pending_modules:
        new = _imported(pending_modules.pop()) - reached_modules
        reached_modules |= new
        pending_modules += new
    return frozenset(reached_modules)


@cache
def _imported(module: str) -> frozenset[str]:
    """Return the modules in packages called `kernels` that a module imports."""
    source = _file(module).read_text(encoding="utf-8")
    names = set()
    for package, imported in IMPORT_PATTERN.findall(source):
        if "kernels" in package.split("."):
            names.add(package)
            names |= {f"{package}.{name}" for name in re.findall(r"\w+", imported)}
    return frozenset(name for name in names if _file(name).is_file())


def _file(module: str) -> Path:
    """Return the source file of a module of this package."""
    source = getattr(sys.modules.get(module), "__file__", None)
    if source is not None:
        return Path(source)
    path = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    package = path / "__init__.py"
    return package if package.is_file() else path.with_suffix(".py")


@cache
def _stamps(module: str) -> tuple[tuple[str, int, int], ...]:
    """Return name, time and size of every source file that the kernels of a module depend on."""
    names = sorted(called_modules(module) | {f"{__package__}.jit"})
    stats = [(name, _file(name).stat()) for name in names]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


# Numba numbers the functions of a process, to tell those of one name and type apart. Linked ones
# come from the caches of several processes, which would use the same numbers for others.
_identities: Any = FunctionIdentity
_identities._unique_ids = iter(lambda: randbits(60), -1)


class LinkedLibrary(JITCodeLibrary):
    """Instructions of a function and of those that it calls, neither optimised nor executable."""

    counting = False
    """whether the function counts references; those it need not count are left out here"""

    @property
    def codegen(self) -> Any:
        """Stand-in without environments: nothing here refers to objects of Python."""
        return SimpleNamespace(set_env=lambda name, environment: None)

    def add_llvm_module(self, module: Any) -> None:
        """Take instructions in."""
        if self.counting:
            super().add_llvm_module(module)
        else:
            self._final_module.link_in(module)

    def finalize(self) -> None:
        """Link the called functions; the result is linked into callers in turn."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._share()

    def _share(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        self._shared_module, self._finalized = self._final_module, True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Return name and instructions for the cache."""
        module: Any = self._shared_module
        return self.name, module.as_bitcode()

    @classmethod
    def loaded(cls, codegen: Any, state: tuple[str, bytes]) -> LinkedLibrary:
        """Return a library from the cache."""
        library = cls(codegen, state[0])
        library._final_module = binding.parse_bitcode(state[1])
        library._share()
        return library


class KernelLibrary(JITCodeLibrary):
    """Machine code of a kernel, with copies of all functions that it calls as its own.

    By itself numba lets kernels share functions of the same name, whichever was loaded first. Each
    has been optimised with its kernel, so that results would depend on the order to the last bits.
    """

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            is_shared = function.linkage == binding.Linkage.linkonce_odr
            if is_shared and not function.is_declaration and not function.name.startswith("NRT_"):
                function.linkage = "internal"
        super()._optimize_final_module()


class KernelCompiler(Compiler):
    """Numba's compiler of kernels."""

    def define_pipelines(self) -> Any:
        """Return numba's passes."""
        state = self.state
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


class LinkedCompiler(Compiler):
    """Numba's compiler of functions that are linked."""

    def define_pipelines(self) -> Any:
        """Return numba's passes, without the `SKIPPED_PASSES` ones."""
        state = self.state
        library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.counting, state.library = bool(state.flags.nrt), library
        pass_managers = super().define_pipelines()
        for manager in pass_managers:
            manager.passes = [
                compiler_pass
                for compiler_pass in manager.passes
                if compiler_pass[0].__name__ not in SKIPPED_PASSES
            ]
            manager._finalized = False
            manager.finalize()
        return pass_managers


class _LinkedImpl(CompileResultCacheImpl):
    """Reading of linked functions from the cache."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return the result of a compilation."""
        codegen = target_context.codegen()
        reader = SimpleNamespace(
            unserialize_library=lambda state: LinkedLibrary.loaded(codegen, state)
        )
        context = SimpleNamespace(
            codegen=lambda: reader,
            get_executable=target_context.get_executable,
            typing_context=target_context.typing_context,
        )
        result = CompileResult._rebuild(context, *payload)
        return result._replace(target_context=target_context)


class _LinkedCache(KernelCache):
    _impl_class: Any = _LinkedImpl


LINKED_OPTIONS: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": LinkedCompiler,
}
"""Options of a function that only other compiled functions call."""

DEVICE_OPTIONS = COMPILER_OPTIONS | LINKED_OPTIONS | WITHOUT_COUNTING
"""Options of such a function that makes no arrays."""

OVERLOAD_OPTIONS = {
    key: COMPILER_OPTIONS[key] for key in ("error_model", "fastmath", "nogil")
} | LINKED_OPTIONS
"""Options of an implementation that is cached with the kernels that call it."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile, at its first call, a function that Python calls."""
    return _jitted(
        function, COMPILER_OPTIONS | {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler}
    )


def device(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that only other compiled functions call, and that makes no arrays."""
    return _jitted(function, DEVICE_OPTIONS)


def allocating(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like `device` that makes arrays, or views of arrays."""
    return _jitted(function, COMPILER_OPTIONS | LINKED_OPTIONS)


def exact(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like `device` whose operations are rounded one by one, as in NumPy."""
    return _jitted(function, DEVICE_OPTIONS | {"fastmath": False})


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like `device`, put in place of every call.

    For functions of many arrays, whose calls would take longer than their work.
    """
    return _jitted(function, DEVICE_OPTIONS | {"forceinline": True})


def by_kind(
    stub: Callable[..., Any], *, counting: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of a function that chooses, by types, the implementation of `stub`.

    The choice is made when a kernel is compiled. The implementations are cached with the kernels
    that call them. They only pass their arguments on, and are inlined: another call for every leg
    takes a quarter of the time of the dynamics. One that returns an array, or a part of one, needs
    `counting`.
    """
    options = OVERLOAD_OPTIONS | {"forceinline": True} | ({} if counting else WITHOUT_COUNTING)
    decorator: Any = overload(stub, jit_options=options)  # type: ignore[arg-type]

    def decorate(choose: Callable[..., Any]) -> Callable[..., Any]:
        choose.__annotations__.clear()  # numba compares them with those of the implementations
        decorator(choose)
        IMPLEMENTATION_CHOOSERS[stub] = choose
        return choose

    return decorate


def _jitted(function: Callable[P, R], options: dict[str, Any]) -> Callable[P, R]:
    """Compile a function on its first call, and keep its machine code on disk."""
    kernel: Callable[P, R]
    try:
        kernel = numba.njit(**options)(function)
    except RuntimeError:
        # No folder can be written to, as in a read-only container: compile in every process.
        kernel = numba.njit(**{**options, "cache": False})(function)
        return kernel
    is_linked = options["pipeline_class"] is LinkedCompiler
    keep_by_types(kernel, function, _LinkedCache if is_linked else KernelCache)
    return kernel


def replaceable_by_type(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that types of numbers may replace by one of their own; see `replacing`."""
    plain_function = FunctionType(function.__code__, function.__globals__, function.__name__)
    TYPED_REPLACEMENTS[function] = []

    def choose(*arguments: Any) -> Callable[..., Any]:
        matching_replacements = (
            other for test, other in TYPED_REPLACEMENTS[function] if test(*arguments)
        )
        return next(matching_replacements, plain_function)

    choose.__signature__ = inspect.signature(plain_function)  # type: ignore[attr-defined]
    overload(function, jit_options=OVERLOAD_OPTIONS)(choose)  # type: ignore[arg-type]
    return function


def replacing(
    function: Callable[..., Any], test: Callable[..., bool]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return the decorator of what replaces a function where `test(*types)` holds.

    The function is one that `replaceable_by_type` has decorated.
    """

    def decorate(other: Callable[P, R]) -> Callable[P, R]:
        plain_function = FunctionType(other.__code__, other.__globals__, other.__name__)
        TYPED_REPLACEMENTS[function].append((test, plain_function))
        return other

    return decorate


@cache
def interpreted(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of Python that computes what a kernel computes, to rounding.

    It is the kernel's source with everything that it calls interpreted as well. A division by
    zero and the root of a negative number are errors here, where kernels continue with inf and NaN.
    """
    return rebuilt(getattr(kernel, "py_func", kernel), _python)


def rebuilt(function: Any, replacement: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function with replacements of what it uses: globals, closure, modules of kernels."""
    names, attributes = _used_names(function.__code__)

    def replaced(value: Any) -> Any:
        if not (isinstance(value, ModuleType) and "kernels" in value.__name__.split(".")):
            return replacement(value)
        module = ModuleType(value.__name__)
        for name in attributes & vars(value).keys():
            setattr(module, name, replaced(getattr(value, name)))
        return module

    scope = dict(function.__globals__)
    scope |= {name: replaced(scope[name]) for name in names & scope.keys()}
    cells = tuple(CellType(replaced(cell.cell_contents)) for cell in function.__closure__ or ())
    return FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)


def _used_names(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the global names and the attributes that a function uses, those inside it too."""
    names, attributes = set(), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            names.add(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(instruction.argval)
    for code_constant in code.co_consts:
        if isinstance(code_constant, CodeType):
            nested_names = _used_names(code_constant)
            names |= nested_names[0]
            attributes |= nested_names[1]
    return names, attributes


def _python(value: Any) -> Any:
    """Return the replacement of a global value where kernels are interpreted."""
    if hasattr(value, "py_func"):
        return lambda *arguments: interpreted(value)(*arguments)
    if isinstance(value, FunctionType) and value in IMPLEMENTATION_CHOOSERS:
        return _chosen(value)
    return value


def implementation_for(stub: Callable[..., Any], kind: type) -> Callable[..., Any]:
    """Return the implementation of a function without a body for a kind of legs."""
    choose: Any = IMPLEMENTATION_CHOOSERS[stub]
    placeholder_arguments = [None] * (choose.__code__.co_argcount - 1)
    implementation: Callable[..., Any] = choose(
        SimpleNamespace(instance_class=kind), *placeholder_arguments
    )
    return implementation


def _chosen(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls the implementation of `stub` for the type of the constants."""

    @cache
    def implementation(kind: type) -> Callable[..., Any]:
        return rebuilt(implementation_for(stub, kind), _python)

    def call(legs: Any, *arguments: Any) -> Any:
        kind: Any = type(legs)
        return implementation(kind)(legs, *arguments)

    return call


class SameTypes:
    """A kernel whose arguments always have the types of its first call.

    Numba looks up the types of all arguments in each call; for groups of arrays that takes longer
    than a step of a machine. The machine code does not look: it is only for arguments whose types,
    contiguity and number of axes never change.
    """

    def __init__(self, kernel: Any) -> None:
        """Keep a kernel; the first call compiles it or loads its machine code."""
        self._kernel = kernel
        self._code: Callable[..., Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a recipe for a copy: machine code stays in its process."""
        return SameTypes, (self._kernel,)

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel."""
        if self._code is None:
            self._code = self._kernel.compile(tuple(map(numba.typeof, arguments)))
        return self._code(*arguments)
