"""NativeFunction: a Program as a fast function of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import ShapeError, UnsupportedError
from kane.graph.program import Program
from kane.native.assembly import parameter
from kane.native.build import Choices, Code, make_code, prepared
from kane.native.call import General, batch_shape, check_number, checked, in_place
from kane.native.host import Dtype, this_host
from kane.native.interpreter import NO_ARGUMENTS, builtin, directly_called, fill, has_fast_calls, method, set_entry

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class NativeFunction:
    """A compiled function f(in0, in1, ... [, p], out=None, threads=1): arrays (..., size) to arrays (..., *shape)."""

    program: Program
    dtype: Dtype
    default_parameters: Array | None
    general: General
    code: Code

    def __call__(self, *arrays: Any, out: Any = None, threads: int = 1, **named: Any) -> Any:
        """The outputs at these arrays; where the interpreter allows, calls go to machine code and not through here.

        named: p, the parameters, which may be given by name.  Raises ArgumentsError for other keywords and another
        number of arrays, ShapeError for arrays of another shape or type.
        """
        return self.general(*arrays, out=out, threads=threads, **named)

    @property
    def name(self) -> str:
        """The program's name."""
        return self.program.name

    def __repr__(self) -> str:
        inputs = ", ".join(f"{i.name} (..., {i.size})" for i in self.program.inputs)
        outputs = ", ".join(f"{o.name} {('...', *o.shape)}".replace("'", "") for o in self.program.outputs)
        return f"<NativeFunction {self.name}: {inputs} -> {outputs}, {self.dtype}>"

    def prepare(self, *given: Array, out: Array | tuple[Array, ...] | None = None, **named: Any) -> Callable[[], Any]:
        """A function without arguments that computes from these very arrays into `out` (made when None) and returns it.

        A scalar output is an array of shape () here.
        Change the contents of the arrays between calls.  The arrays have to be of the function's dtype and contiguous.
        Raises ShapeError when they are not, ArgumentsError for another number of them.
        """
        code, program = self.code, self.program
        arrays = in_place(code, given, named) if named else given
        check_number(code, len(arrays))
        for item, array in zip(program.inputs, arrays, strict=False):
            same = isinstance(array, np.ndarray) and array.dtype == code.array_dtype and array.flags.c_contiguous
            if not same or checked(program.name, item, array, code.array_dtype) is not array:
                wanted = f"expected a contiguous {self.dtype} array (..., {item.size})"
                raise ShapeError(
                    f"{program.name}: {item.name} cannot be bound; {wanted}.",
                    name=item.name,
                    remedy="Pass np.ascontiguousarray(x, dtype=...), and keep writing into it.",
                )
        general = self.general
        single = all(a.ndim == 1 for a in arrays)
        if out is None:
            batch = batch_shape(code, arrays)
            made = tuple(np.empty((*batch, *o.shape), code.array_dtype) for o in program.outputs)
            out = made[0] if len(made) == 1 else made
        general(*arrays, out=out)  # checks the shapes
        outs = out if isinstance(out, tuple) else (out,)
        fit = all(o.dtype == code.array_dtype and o.flags.c_contiguous for o in outs)
        apart = not any(np.may_share_memory(o, a) for o in outs for a in arrays)
        answer = outs[0] if len(outs) == 1 else outs
        if not (single and fit and apart and has_fast_calls()):
            return lambda: general(*arrays, out=answer)
        states = arrays[: len(program.inputs) - (parameter(program) is not None)]
        p = arrays[-1].ctypes.data if len(arrays) > len(states) else 0
        table = np.array([*(a.ctypes.data for a in [*states, *outs]), p], dtype=np.int64).tobytes()
        definition = method(program.name, code.single.address("bound"), NO_ARGUMENTS)
        return builtin(definition, (table, answer, arrays, code, definition))

    @property
    def address(self) -> int:
        """The C function `void f(const T *in0, ..., T *out0, ...)` for one state; T is double or float.

        Arrays in the order of program.inputs and program.outputs, contiguous, apart from each other.  A null pointer
        for the parameters means the default ones.  Re-entrant.  Valid as long as this object lives.
        """
        return self.code.single.address("pointer")

    @property
    def batch_address(self) -> int:
        """The C function for n states.

        `void f(int64_t n, void *const *arrays, const int64_t *batch_strides, const int64_t *element_strides,
        const T *constants)`

        Inputs (without parameters), then outputs; strides in bytes; constants from `constants`, or null when there are
        no parameters.  Outputs must not overlap inputs.  Re-entrant.  Compiled at its first mention.
        """
        return self.code.batch_address()

    def constants(self, parameters: Any = None) -> Array | None:
        """Values of the constants section (what batch_address takes), None when there are no parameters."""
        p = parameter(self.program)
        if p is None:
            return None
        if parameters is None:
            return self.code.defaults
        array = checked(self.program.name, self.program.inputs[p], parameters, self.code.array_dtype)
        return self.code.constants_of(np.ascontiguousarray(array))

    @property
    def choices(self) -> tuple[Choices, ...]:
        """What was chosen for the module of single states, and for that of batches once it is there."""
        return tuple(self.code.choices)


def compile_program(
    program: Program, dtype: Dtype = "float64", cache: bool = True, default_parameters: Any = None
) -> NativeFunction:
    """The program as machine code for this processor.

    Equal bits from single calls, batches and printed code.  Parameters, when the program has them, are its last input;
    `default_parameters` are used where a call leaves them out.  `cache` keeps object code on disk (native/cache.py).
    Raises UnsupportedError for a function that machine code does not know, ShapeError for wrong default parameters.
    """
    if dtype not in ("float64", "float32"):
        raise UnsupportedError(f"dtype {dtype!r} is not float64 or float32.", name="dtype", value=dtype)
    kinds = [i.kind for i in program.inputs]
    if "parameter" in kinds[:-1]:
        raise UnsupportedError(f"{program.name}: parameters have to be one input, the last.", name=program.name)
    p = parameter(program)
    defaults = None
    if default_parameters is not None:
        if p is None:
            raise UnsupportedError(f"{program.name} has no parameters, but default ones were given.", name=program.name)
        defaults = np.array(checked(program.name, program.inputs[p], default_parameters, np.dtype(dtype)), order="C")
        if defaults.ndim != 1:
            raise ShapeError(f"{program.name}: default parameters have shape {defaults.shape}, expected one vector.")
        defaults.flags.writeable = False
    code = make_code(prepared(program), dtype, this_host(), cache, defaults)
    general = General(code)
    if not has_fast_calls():
        return NativeFunction(program, dtype, defaults, general, code)
    fill(code.single_table(), code.array_dtype, {"general": id(general)})
    function: NativeFunction = directly_called(NativeFunction)(program, dtype, defaults, general, code)
    set_entry(function, code.single.address("call"))
    return function
