"""A Program as machine code in this process, through LLVM: single states and batches, cached on disk.

`compile_program(program)` gives a NativeFunction.  This folder knows programs, arrays and processors, no mechanics.

- host.py, text.py: the processor; LLVM's types and literals as text.
- kernel.py: the sections of a program as straight-line IR, scalars and vectors from one writer; functions.py and
  sincos.py: what it calls.
- batch.py, transpose.py: the loop over a batch, rows and columns through a scratch that stays in cache.
- crew.py: a batch on several threads.
- assembly.py, entry.py, doors.py: the calls from Python, the bound call, the C pointers, in IR.
- load.py, cache.py: compile and load, object code on disk.
- build.py: a program's modules, batches compiled at their first use; interpreter.py: addresses of CPython and NumPy.
- quickest.py: which of several forms of a task runs quickest here.
- call.py, function.py: the general path in Python, and what users hold.
"""

from kane.native.function import NativeFunction, compile_program
from kane.native.quickest import Running, quickest

__all__ = ["NativeFunction", "Running", "compile_program", "quickest"]
