"""The machine that code is made for: name and features of the processor, lanes of a vector, target machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Dtype = Literal["float64", "float32"]


@dataclass(frozen=True, slots=True)
class Host:
    """What code generation needs to know of a processor; `bits` is the width of its vectors."""

    triple: str
    cpu: str
    features: str
    bits: int

    def lanes(self, dtype: Dtype) -> int:
        """Numbers in a vector."""
        return self.bits // (64 if dtype == "float64" else 32)

    @property
    def isa(self) -> str:
        """A short name of the instruction set for reports."""
        wanted = ("avx512f", "avx2", "neon", "sse2")
        return next((name for name in wanted if f"+{name}" in self.features.split(",")), "scalar")

    @property
    def key(self) -> str:
        """All that machine code depends on besides its source."""
        import llvmlite
        import llvmlite.binding as llvm

        version = ".".join(map(str, llvm.llvm_version_info))
        return "|".join((self.triple, self.cpu, self.features, str(self.bits), llvmlite.__version__, version))

    def machine(self, opt: int) -> Any:
        """An LLVM target machine."""
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple(self.triple)
        # the small model takes constants as operands in place; load.py keeps a module's sections together for it
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=opt, reloc="pic", codemodel="small", jit=True
        )


def this_host() -> Host:
    """The processor that runs this process."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    on = {name for name, there in features.items() if there}
    bits = 512 if {"avx512f", "avx512dq", "avx512vl"} <= on else 256 if "avx2" in on else 128
    flags = [("+" if there else "-") + name for name, there in sorted(features.items())]
    if bits == 512:  # without it LLVM prefers 256-bit vectors on some processors
        flags.append("-prefer-256-bit")
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), ",".join(flags), bits)
