"""What comes with a C library: its self-test and an example of a call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kane.emit.c_parts import Parts
from kane.emit.code import Body
from kane.emit.names import comment_text
from kane.emit.numbers import Precision, shortest
from kane.emit.reference import SAFETY, samples
from kane.emit.target import Package, arguments
from kane.graph.program import Input, Program

BUILD = "cc -std=c99 -O3 -march=native"  # without the processor's own multiply-add, fma() is a slow call


@dataclass(frozen=True, slots=True)
class Signature:
    """A C function: name and arguments (constness, name, size)."""

    name: str
    arguments: tuple[tuple[bool, str, int], ...]

    def text(self, kind: str) -> str:
        parts = [
            f"{'const ' * const}{kind} {f'{name}[{size}]' if size else f'*{name}'}"
            for const, name, size in self.arguments
        ]
        return f"void {self.name}({', '.join(parts) or 'void'})"

    @property
    def takes_constants(self) -> bool:
        return any(const and name == "k" for const, name, _ in self.arguments)

    def call(self, rows: Collection[str], arrays: Collection[str]) -> str:
        """A call with row i of some inputs, arrays as they are, and null pointers for what has no elements."""
        texts = [
            f"{name}[i]" if const and name in rows else name if name in arrays or name == "k" else "0"
            for const, name, _ in self.arguments
        ]
        return f"{self.name}({', '.join(texts)});"


@dataclass(frozen=True, slots=True)
class Library:
    """All that the files of a library share; `kind` is the C type, `merged` computes the run-time constants."""

    package: Package
    kind: str
    merged: Program
    tasks: tuple[tuple[Program, Signature, Body, Parts | None], ...]
    constants: tuple[Signature, Body] | None

    @property
    def stem(self) -> str:
        return self.package.name

    def inputs(self, program: Program, signature: Signature) -> dict[str, Input]:
        """The arrays that a call needs, by code name; with constants, the parameters of all tasks."""
        items = [item for _, item in arguments(program) if item.kind == "state"]
        items += self.package.parameters if signature.takes_constants else ()
        return {self.package.arrays.code[item.name]: item for item in items if item.size}

    def outputs(self, program: Program) -> dict[str, tuple[str, int]]:
        """Code name -> (user's name, size) of the outputs that have elements."""
        return {self.package.output(program, o.name): (o.name, len(o.refs)) for o in program.outputs if o.refs}


_DIFFERS = """\
static int differs(const char *what, int state, const {kind} *got, const double *want, int n, double tolerance)
{{
    int bad = 0;
    for (int i = 0; i < n; i++) {{
        if (!(fabs((double)got[i] - want[i]) <= tolerance)) {{
            printf("%s[%d], state %d: %.{digits}g, ", what, i, state, (double)got[i]);
            printf("wanted %.{digits}g within %.1e\\n", want[i], tolerance);
            bad = 1;
        }}
    }}
    return bad;
}}
"""


def selftest(lib: Library) -> str:
    """A main() that compares all functions with stored values."""
    lines = [
        "/*",
        f" * self-test of {comment_text(lib.package.title)} at several states: prints ok and returns 0, or 1",
        f" * build: {BUILD} -o {lib.stem}_selftest {lib.stem}_selftest.c {lib.stem}.c -lm",
        f" * tolerance: {SAFETY:g} times the first-order bound of rounding errors, for each output at each state",
        " */",
        f'#include "{lib.stem}.h"',
        "",
        "#include <math.h>",
        "#include <stdio.h>",
        "",
        _DIFFERS.format(kind=lib.kind, digits=17 if lib.kind == "double" else 9),
        "int main(void)",
        "{",
        "    int bad = 0;",
    ]
    for program, signature, _, _ in lib.tasks:
        lines += [f"    {line}" for line in _test_task(lib, program, signature)]
    return "\n".join([*lines, "    if (!bad)", '        printf("ok\\n");', "    return bad;", "}", ""])


def _test_task(lib: Library, program: Program, signature: Signature) -> list[str]:
    found = samples(program, lib.package.precision)
    if not found:
        return [f'printf("not tested: {signature.name} is not finite at the states tried\\n");']
    inputs, outputs = lib.inputs(program, signature), lib.outputs(program)
    lines = [f"{{   /* {comment_text(program.name)} */"]
    for name, item in inputs.items():  # parameters of other tasks only: any value will do
        rows = [row(s.inputs.get(item.name, (1.0,) * item.size), lib.kind) for s in found]
        lines += [f"    static const {lib.kind} {name}[{len(found)}][{item.size}] = {{"]
        lines += [*(f"        {r}," for r in rows), "    };"]
    for n, (name, (user, size)) in enumerate(outputs.items()):
        rows = [row(s.outputs[user], "double") for s in found]
        lines += [f"    static const double kane_want_{n}[{len(found)}][{size}] = {{", *(f"        {r}," for r in rows)]
        limits = row([float(f"{s.tolerances[user]:.2e}") for s in found], "double")
        lines += ["    };", f"    static const double kane_limit_{n}[{len(found)}] = {limits};"]
        lines.append(f"    {lib.kind} {name}[{size}];")
    if signature.takes_constants:
        lines.append(f"    {lib.kind} k[{lib.stem.upper()}_CONSTANTS];")
    lines.append(f"    for (int i = 0; i < {len(found)}; i++) {{")
    if lib.constants and signature.takes_constants:
        lines.append(f"        {lib.constants[0].call(inputs, outputs)}")
    lines.append(f"        {signature.call(inputs, outputs)}")
    for n, (name, (_, size)) in enumerate(outputs.items()):
        what = f'"{signature.name} {name}"'
        lines.append(f"        bad |= differs({what}, i, {name}, kane_want_{n}[i], {size}, kane_limit_{n}[i]);")
    return [*lines, "    }", "}"]


def row(values: Sequence[float], kind: str) -> str:
    """Initializer of an array."""
    precision: Precision = "double" if kind == "double" else "float"
    return "{" + ", ".join(shortest(v, precision) + "f" * (kind != "double") for v in values) + "}"


def example(lib: Library) -> str:
    """A call of the first function."""
    if not lib.tasks:
        return "int main(void) { return 0; }\n"
    program, signature, _, _ = lib.tasks[0]
    inputs, outputs = lib.inputs(program, signature), lib.outputs(program)
    lines = [
        f"/* build: {BUILD} -o {lib.stem}_example {lib.stem}_example.c {lib.stem}.c -lm */",
        "#include <stdio.h>",
        f'#include "{lib.stem}.h"',
        "int main(void)",
        "{",
    ]
    for name, item in inputs.items():
        values = [round(0.1 * (i + 1), 1) if item.kind == "state" else 1.0 for i in range(item.size)]
        lines.append(f"    const {lib.kind} {name}[{item.size}] = {row(values, lib.kind)};")
    lines += [f"    {lib.kind} {name}[{size}];" for name, (_, size) in outputs.items()]
    if lib.constants and signature.takes_constants:
        lines += [f"    {lib.kind} k[{lib.stem.upper()}_CONSTANTS];", f"    {lib.constants[0].call((), inputs)}"]
    lines.append(f"    {signature.call((), [*inputs, *outputs])}")
    for name, (_, size) in outputs.items():
        show = f'printf("{name}[%d] = %g\\n", i, (double){name}[i]);'
        lines.append(f"    for (int i = 0; i < {size}; i++) {show}")
    return "\n".join([*lines, "    return 0;", "}", ""])
