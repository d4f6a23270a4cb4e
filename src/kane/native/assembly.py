"""What functions that meet Python's objects are written with: fresh names, fields of objects, a table of addresses.

Addresses of the interpreter and of NumPy come through a table that is filled after loading (SLOTS), so that object code
can be kept on disk.
"""

from __future__ import annotations

from kane.graph.program import Program

SLOTS = (
    "array_type", "descr", "array_new", "array_return", "vectorcall", "tuple_new", "tuple_get", "tuple_set", "incref",
    "bytes", "save_thread", "restore_thread", "out_name", "general", "batch", "defaults", "memo_constants",
    "memo_parameters", "memo_valid", "tuple_type", "threads_name", "int_type", "int_value", "crew",
)  # fmt: skip
# offsets in a NumPy array object (the same in NumPy 1 and 2, with CPython's two-word object header)
TYPE, DATA, ND, DIMS, STRIDES, DESCR, FLAGS = 8, 16, 24, 32, 40, 56, 64
ALIGNED, WRITEABLE, WRITEABLE_CONTIGUOUS = 0x100, 0x400, 0x501


def states(program: Program) -> list[int]:
    """Inputs that are state."""
    return [i for i, array in enumerate(program.inputs) if array.kind == "state"]


def parameter(program: Program) -> int | None:
    """The input of parameters, if there is one."""
    return next((i for i, array in enumerate(program.inputs) if array.kind == "parameter"), None)


class Assembly:
    """Lines of a function with fresh names."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def room(self, kind: str, align: int = 8) -> str:
        """Stack space, taken once at the function's start."""
        self.count += 1
        self.stack.append(f"  %r{self.count} = alloca {kind}, align {align}")
        return f"%r{self.count}"

    def function(self, head: str) -> str:
        return "\n".join([head + " {\nstart:", *self.stack, *self.lines, "}"])

    def __call__(self, expression: str) -> str:
        self.count += 1
        self.lines.append(f"  %r{self.count} = {expression}")
        return f"%r{self.count}"

    def do(self, line: str) -> None:
        self.lines.append("  " + line)

    def label(self, name: str) -> None:
        self.lines.append(name + ":")

    def field(self, base: str, offset: int, kind: str = "ptr") -> str:
        return self(f"load {kind}, ptr {self.at(base, offset)}")

    def at(self, base: str, offset: int) -> str:
        return self(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base

    def slot(self, name: str, kind: str = "ptr") -> str:
        return self.field("@slots", 8 * SLOTS.index(name), kind)

    def demand(self, condition: str, otherwise: str) -> None:
        """Go on only where the condition holds."""
        self.count += 1
        self.do(f"br i1 {condition}, label %k{self.count}, label %{otherwise}")
        self.label(f"k{self.count}")

    def array(self, obj: str, otherwise: str) -> str:
        """Demand an aligned array of our dtype in `obj`; gives its flags."""
        self.demand(self(f"icmp eq ptr {self.field(obj, TYPE)}, {self.slot('array_type')}"), otherwise)
        self.demand(self(f"icmp eq ptr {self.field(obj, DESCR)}, {self.slot('descr')}"), otherwise)
        flags = self.field(obj, FLAGS, "i32")
        aligned = self(f"and i32 {flags}, {ALIGNED}")
        self.demand(self(f"icmp ne i32 {aligned}, 0"), otherwise)
        return flags

    def dimension(self, obj: str, axis: int, size: str, otherwise: str) -> None:
        here = self.field(self.field(obj, DIMS), 8 * axis, "i64")
        self.demand(self(f"icmp eq i64 {here}, {size}"), otherwise)

    def rank(self, obj: str, rank: int, otherwise: str) -> None:
        self.demand(self(f"icmp eq i32 {self.field(obj, ND, 'i32')}, {rank}"), otherwise)


def run_state(code: Assembly, inputs: list[str], outputs: list[str], constants: str) -> None:
    code.do(f"call void @state({', '.join(f'ptr {a}' for a in [constants, *inputs, *outputs])})")
