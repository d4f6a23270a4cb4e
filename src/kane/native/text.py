"""LLVM types and literals as text, for scalars and vectors alike."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from kane.native.host import Dtype


@dataclass(frozen=True, slots=True)
class Type:
    """A floating-point type of `lanes` numbers; one lane is the scalar type."""

    scalar: str
    lanes: int

    @property
    def name(self) -> str:
        return self.scalar if self.lanes == 1 else f"<{self.lanes} x {self.scalar}>"

    @property
    def scalar_bytes(self) -> int:
        return 8 if self.scalar == "double" else 4

    @property
    def bytes(self) -> int:
        return self.lanes * self.scalar_bytes

    @property
    def scalar_suffix(self) -> str:
        return "f64" if self.scalar == "double" else "f32"

    @property
    def suffix(self) -> str:
        """The part of an intrinsic's name that tells the type."""
        return self.scalar_suffix if self.lanes == 1 else f"v{self.lanes}{self.scalar_suffix}"

    @property
    def integers(self) -> str:
        """The integer type of the same width."""
        word = f"i{8 * self.scalar_bytes}"
        return word if self.lanes == 1 else f"<{self.lanes} x {word}>"

    @property
    def bools(self) -> str:
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    def scalar_literal(self, value: float) -> str:
        """A number as IR text: the bits of a double (a float's value exactly representable)."""
        if self.scalar == "float":
            with np.errstate(over="ignore"):
                value = float(np.float32(value))
        return "0x" + struct.pack(">d", value).hex().upper()

    def literal(self, value: float) -> str:
        """The number in every lane."""
        one = self.scalar_literal(value)
        return one if self.lanes == 1 else "<" + ", ".join([f"{self.scalar} {one}"] * self.lanes) + ">"

    def integer(self, value: int) -> str:
        word = f"i{8 * self.scalar_bytes}"
        return str(value) if self.lanes == 1 else "<" + ", ".join([f"{word} {value}"] * self.lanes) + ">"

    def widened(self, lanes: int) -> Type:
        return Type(self.scalar, lanes)


def scalar_type(dtype: Dtype) -> Type:
    return Type("double" if dtype == "float64" else "float", 1)
