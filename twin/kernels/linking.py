"""Compilation of kernels with less work than numba does by itself.

By itself numba optimises every function with all that it calls, makes machine code of it, and does
so again in each function that calls it. Functions under `device` need neither: their instructions
are linked into the kernel that calls them, and optimised there, once.
"""

from __future__ import annotations

from secrets import randbits
from types import SimpleNamespace
from typing import Any

from llvmlite import binding
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult

from twin.kernels.cache_files import KernelCache

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
        """Link what is called, to be linked into callers in turn."""
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
            shared = function.linkage == binding.Linkage.linkonce_odr
            if shared and not function.is_declaration and not function.name.startswith("NRT_"):
                function.linkage = "internal"
        super()._optimize_final_module()


NEEDLESS = {
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
        """Return numba's passes, without the `NEEDLESS` ones."""
        state = self.state
        library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.counting, state.library = bool(state.flags.nrt), library
        found = super().define_pipelines()
        for manager in found:
            manager.passes = [each for each in manager.passes if each[0].__name__ not in NEEDLESS]
            manager._finalized = False
            manager.finalize()
        return found


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


def cache_linked(kernel: Any, function: Any) -> None:
    """Let a kernel that is linked keep its instructions in the cache on the disk."""
    kernel._cache = _LinkedCache(function)
