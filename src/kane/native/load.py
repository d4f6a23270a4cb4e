"""From IR text to callable addresses: compile or take from the cache, then load."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from kane.native import cache
from kane.native.functions import library_addresses
from kane.native.host import Host


@dataclass(frozen=True, slots=True)
class Loaded:
    """Machine code in memory; it lives as long as this object."""

    engine: Any
    size: int
    from_cache: bool

    def address(self, name: str) -> int:
        """The address of a function."""
        return int(self.engine.get_function_address(name))


def load(text: str, host: Host, opt: int, cached: bool) -> Loaded:
    """Compile IR text for the host (or take its object code from the cache) and load it."""
    import llvmlite.binding as llvm  # slow to import, and not needed before

    name = cache.key(text, host.key, str(opt))
    machine = host.machine(opt)
    code = cache.load(name) if cached else None
    if code is not None:
        try:
            return _loaded(code, machine, True)
        except RuntimeError:  # verified, yet not what LLVM takes: make it again
            code = None
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple = host.triple
    module.data_layout = str(machine.target_data)
    code = bytes(machine.emit_object(module))
    module.close()
    if cached:
        cache.store(name, code)
    return _loaded(code, machine, False)


def _loaded(code: bytes, machine: Any, from_cache: bool) -> Loaded:
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=True)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    loaded = Loaded(engine, len(code), from_cache)
    place = ctypes.CFUNCTYPE(ctypes.c_int64)(loaded.address("library_table"))()
    addresses: list[Any] = list(library_addresses())
    (ctypes.c_int64 * len(addresses)).from_address(place)[:] = addresses
    return loaded
