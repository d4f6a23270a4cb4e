"""A Program as machine code in this process, single states and batches."""

from kane.native.function import NativeFunction, compile_program

__all__ = ["NativeFunction", "compile_program"]
