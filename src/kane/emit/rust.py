"""Rust: one module file, no dependencies, no unsafe code; run-time constants as in C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.emit.code import Body, Syntax, describe, header, merge_constants, write_constants, write_task
from kane.emit.names import safe_name
from kane.emit.numbers import Precision
from kane.emit.target import Package, arguments
from kane.graph.program import Program

_METHODS = {"log": "ln"} | {n: n for n in "sqrt sin cos tan asin acos atan exp sinh cosh tanh abs".split()}
_HELPERS = {
    "sign": """\
fn kane_sign(x: {kind}) -> {kind} {{
    if x > 0.0 {{ 1.0 }} else if x < 0.0 {{ -1.0 }} else {{ x }}
}}""",
    "min": """\
fn kane_min(a: {kind}, b: {kind}) -> {kind} {{
    if a <= b || a.is_nan() {{ a }} else {{ b }}
}}""",
    "max": """\
fn kane_max(a: {kind}, b: {kind}) -> {kind} {{
    if a >= b || a.is_nan() {{ a }} else {{ b }}
}}""",
}


def syntax(precision: Precision) -> Syntax:
    """Rust with f64 or f32."""
    kind = "f64" if precision == "double" else "f32"
    return Syntax(
        target="rust",
        declare=f"let {{name}}: {kind} = {{value}};",
        remark="// {text}",
        access="{array}[{index}]",
        functions={op: f"{kind}::{method}({{0}})" for op, method in _METHODS.items()}
        | {
            "atan2": f"{kind}::atan2({{0}}, {{1}})",
            "pow": f"{kind}::powf({{0}}, {{1}})",
            "sign": "kane_sign({0})",
            "select": "if {0} > 0.0 {{ {1} }} else {{ {2} }}",
            "min": "kane_min({0}, {1})",
            "max": "kane_max({0}, {1})",
        },
        fma=f"{kind}::mul_add({{0}}, {{1}}, {{2}})",
    )


@dataclass(frozen=True, slots=True)
class Rust:
    """The Rust target.  mul_add is one instruction when the processor has it and the compiler may use it."""

    name: str = "rust"
    fused: bool = True

    def render(self, package: Package) -> dict[str, str]:
        how = syntax(package.precision)
        kind = "f64" if package.precision == "double" else "f32"
        merged, places = merge_constants(package)
        size = len(merged.outputs[0].refs)
        bodies = [write_task(package, number, how, place) for number, place in enumerate(places)]
        lines = [f"//! {line}".rstrip() for line in header(package)]
        lines += ["", "#![allow(non_snake_case, dead_code, clippy::all)]", ""]
        used = {f for body in bodies for f in body.used_functions}
        if size:
            constants = write_constants(package, merged, how)
            used |= constants.used_functions
            takes = [(package.arrays.code[item.name], item.size) for item in package.parameters]
            lines += ["/// The run-time constants from the parameters: call once after each change of a parameter."]
            lines += _function(kind, "constants", takes, [("k", size)], constants, _read(package, merged, constants))
        for program, body, place in zip(package.programs, bodies, places, strict=True):
            state = [item for _, item in arguments(program) if item.kind == "state"]
            takes = [(package.arrays.code[item.name], item.size) for item in state] + [("k", size)] * bool(place)
            gives = [(package.output(program, out.name), len(out.refs)) for out in program.outputs]
            lines += [f"/// {line}".rstrip() for line in describe(package, program, "")]
            task = package.tasks.code[program.name]
            lines += _function(kind, task, takes, gives, body, _read(package, program, body))
        helpers = [line for op, text in _HELPERS.items() if op in used for line in (text.format(kind=kind), "")]
        return {f"{safe_name(package.name)}.rs": "\n".join(lines + helpers)}


def _read(package: Package, program: Program, body: Body) -> set[str]:
    return {package.arrays.code[program.inputs[i].name] for i in body.used_inputs} | {"k"}


def _function(
    kind: str,
    name: str,
    takes: Sequence[tuple[str, int]],
    gives: Sequence[tuple[str, int]],
    body: Body,
    read: set[str],
) -> list[str]:
    """A function; arguments that are not read or have no elements are named so for the compiler."""
    inputs = [f"{'' if n in read else '_'}{n}: &[{kind}; {size}]" for n, size in takes]
    outputs = [f"{'' if size else '_'}{n}: &mut [{kind}; {size}]" for n, size in gives]
    lines = [f"pub fn {name}({', '.join([*inputs, *outputs])}) {{", *(f"    {line}" for line in body.lines)]
    for (n, _), values in zip(gives, body.results, strict=True):
        lines += [f"    {n}[{k}] = {value};" for k, value in enumerate(values)]
    return [*lines, "}", ""]


TARGET = Rust()
