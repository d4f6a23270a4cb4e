"""From a Program to machine code: constants, source of each module, loading; batches compile at their first use."""

from __future__ import annotations

import ctypes
import threading
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from kane.graph.program import INPUT_OP, NUMBER_OP, Input, Program
from kane.native.assembly import parameter
from kane.native.batch import batch_function
from kane.native.crew import crew
from kane.native.doors import entry_functions
from kane.native.host import Dtype, Host
from kane.native.interpreter import fill
from kane.native.kernel import Constants, constants_function, state_functions, support
from kane.native.load import Loaded, load
from kane.native.text import scalar_type
from kane.rewrite.fuse import fuse
from kane.rewrite.lives import schedule_lives
from kane.rewrite.schedule import schedule
from kane.rewrite.split import split

BLOCK = 2500  # operations of one machine function: larger ones take LLVM more than linear time
REGISTERS = 16  # of vectors (AVX2; more do no harm)
LARGE = 20_000  # operations beyond which LLVM's level 1 is used, not 2: a quarter less time, nearly the same code


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen for a module, for reports: LLVM's level, number of functions, and what it took."""

    isa: str
    lanes: int
    opt: int
    blocks: int
    seconds: float
    bytes: int
    from_cache: bool


def prepared(program: Program) -> Program:
    """The program as it is compiled: products fused into sums, ordered, cut into blocks."""
    return split(schedule(fuse(program)), BLOCK)


def merged(program: Program) -> Program:
    """The program with parameters as part of the state: for parameters that differ within a batch."""
    inputs = tuple(Input(i.name, i.labels, "state") for i in program.inputs)
    # no products are fused here: the constants keep the bits that they have in their own section
    return split(schedule(replace(program, inputs=inputs, first_state=program.first_constant, blocks=())), BLOCK)


def opt_level(program: Program) -> int:
    return 2 if len(program.state) <= LARGE else 1


@dataclass(slots=True)
class Code:
    """The machine code of one program, with the tables that it reads.  What is compiled late is guarded by a lock."""

    program: Program
    dtype: Dtype
    host: Host
    cached: bool
    constants: Constants
    single: Loaded
    choices: list[Choices]
    defaults: np.ndarray[Any, Any] | None
    tables: list[Any] = field(default_factory=list)
    batch: Loaded | None = None
    batch_entry: int = 0
    crewed: bool = False
    over_parameters: Code | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def array_dtype(self) -> np.dtype[Any]:
        return np.dtype(self.dtype)

    def batch_address(self) -> int:
        """Address of the batch loop, compiled now when it is the first time."""
        if self.batch_entry:
            return self.batch_entry
        with self.lock:
            if self.batch is None:
                text = batch_source(self.program, self.constants, self.dtype, self.host)
                self.batch, choices = _load(text, self.program, self.dtype, self.host, self.cached)
                self.choices.append(choices)
                address = self.batch.address("batch")
                fill(self.single_table(), self.array_dtype, {"batch": address})
                self.batch_entry = address
            return self.batch_entry

    def crew_address(self) -> int | None:
        """Address of what runs the batch loop on several threads, known to the fast call from now on."""
        address = crew()
        if address is not None and not self.crewed:
            fill(self.single_table(), self.array_dtype, {"crew": address})
            self.crewed = True
        return address

    def single_table(self) -> int:
        make = ctypes.CFUNCTYPE(ctypes.c_int64)(self.single.address("table"))
        return int(make())

    def with_parameters(self) -> Code:
        """The same program with parameters that may differ from state to state."""
        with self.lock:
            if self.over_parameters is None:
                self.over_parameters = make_code(merged(self.program), self.dtype, self.host, self.cached, None)
            return self.over_parameters

    def constants_of(self, p: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Values of the constants section for one parameter vector."""
        values = np.zeros(max(self.constants.size, 1), self.array_dtype)
        call = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self.single.address("constants"))
        call(values.ctypes.data, p.ctypes.data)
        return values


def make_code(
    program: Program, dtype: Dtype, host: Host, cached: bool, parameters: np.ndarray[Any, Any] | None
) -> Code:
    """Compile the single-state functions of a program (a `prepared` one) and fill their tables."""
    constants = sort_constants(program, dtype)
    text = single_source(program, constants, dtype, host)
    single, choices = _load(text, program, dtype, host, cached)
    code = Code(program, dtype, host, cached, constants, single, [choices], None)
    more: dict[str, int] = {}
    p = parameter(program)
    if p is not None:
        memo = np.zeros(max(constants.size, 1), code.array_dtype), np.zeros(program.inputs[p].size, code.array_dtype)
        code.tables += memo
        more = {"memo_constants": memo[0].ctypes.data, "memo_parameters": memo[1].ctypes.data}
        if parameters is not None:
            code.defaults = code.constants_of(parameters)
            more["defaults"] = code.defaults.ctypes.data
    fill(code.single_table(), code.array_dtype, more)
    return code


def _load(text: str, program: Program, dtype: Dtype, host: Host, cached: bool) -> tuple[Loaded, Choices]:
    opt, start = opt_level(program), time.perf_counter()
    loaded = load(text, host, opt, cached)
    seconds = time.perf_counter() - start
    lanes, blocks = host.lanes(dtype), len(program.blocks)
    return loaded, Choices(host.isa, lanes, opt, blocks, seconds, loaded.size, loaded.from_cache)


def sort_constants(program: Program, dtype: Dtype = "float64") -> Constants:
    """Constants that are numbers (rounded once, as in printed code) and places for those that parameters decide."""
    from kane.emit.numbers import Precision, baked_constants, rounded  # late: the printers take long to import

    precision: Precision = "double" if dtype == "float64" else "float"
    everywhere = replace(program, first_state=len(program.values), blocks=())  # merged programs hold some in the state
    folded = {index: rounded(value, precision) for index, value in baked_constants(everywhere).items()}
    for index in range(program.first_constant):
        payload = program.values[index].payload
        if program.values[index].op == NUMBER_OP and isinstance(payload, Fraction):
            folded[index] = rounded(payload, precision)
    wanted = {a >> 1 for i in program.state for a in program.values[i].args}
    wanted |= {r >> 1 for out in program.outputs for r in out.refs}
    p = parameter(program)
    given = [i for i in range(program.first_constant) if _array(program, i) == p and p is not None]
    placed = [i for i in [*given, *program.constants] if i in wanted and i not in folded]
    return Constants(folded, {index: n for n, index in enumerate(placed)})


def _array(program: Program, index: int) -> int | None:
    """The input array that a value is an element of."""
    value = program.values[index]
    return value.payload[0] if value.op == INPUT_OP and isinstance(value.payload, tuple) else None


def single_source(program: Program, constants: Constants, dtype: Dtype, host: Host) -> str:
    """IR of the module for single states."""
    t = scalar_type(dtype)
    trig = t.widened(host.lanes(dtype))
    parts = [support(program, t, trig), constants_function(program, constants, t, trig, "constants")]
    parts += [state_functions(program, constants, t, trig, "state"), entry_functions(program, t, constants.size)]
    return "\n".join(parts)


def batch_source(program: Program, constants: Constants, dtype: Dtype, host: Host) -> str:
    """IR of the module for batches."""
    t = scalar_type(dtype).widened(host.lanes(dtype))
    program = split(schedule_lives(program, REGISTERS), BLOCK)
    constants = replace(constants, folded=sort_constants(program, dtype).folded)  # some stand elsewhere now
    kernel = state_functions(program, constants, t, t, "state_v")
    return "\n".join([support(program, t, t), kernel, batch_function(program, t)])


