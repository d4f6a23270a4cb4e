"""Julia: a module with an allocating and an in-place function for each task, generic over the number type."""

from __future__ import annotations

from dataclasses import dataclass

from kane.emit.code import Syntax, describe, header, write_task
from kane.emit.numbers import Precision
from kane.emit.target import Package, arguments
from kane.graph.program import Output, Program


def syntax(precision: Precision) -> Syntax:
    """Julia with Float64 or Float32 literals."""
    plain = "sqrt sin cos tan asin acos atan exp log sinh cosh tanh abs sign".split()
    return Syntax(
        target="julia",
        declare="{name} = {value}",
        remark="# {text}",
        access="{array}[{index}]",
        first=1,
        functions={name: f"{name}({{0}})" for name in plain}
        | {
            "atan2": "atan({0}, {1})",
            "select": "({0} > 0 ? {1} : {2})",
            "min": "min({0}, {1})",
            "max": "max({0}, {1})",
            "pow": "({0})^({1})",
        },
        literal=str if precision == "double" else single,
        fma="fma({0}, {1}, {2})",
    )


def single(text: str) -> str:
    """A Float32 literal."""
    return text.replace("e", "f") if "e" in text else text + "f0"


@dataclass(frozen=True, slots=True)
class Julia:
    """The Julia target."""

    name: str = "julia"
    fused: bool = True

    def render(self, package: Package) -> dict[str, str]:
        module = "".join(part[:1].upper() + part[1:] for part in package.name.split("_"))
        tasks = [package.tasks.code[p.name] for p in package.programs]
        lines = [f"# {line}".rstrip() for line in header(package, flat=False)]
        exports = ", ".join(name for task in tasks for name in (task, f"{task}!"))
        lines += ["", f"module {module}", *["", f"export {exports}"] * bool(tasks)]
        for number, program in enumerate(package.programs):
            lines += ["", *_function(package, number, program)]
        return {f"{package.name}.jl": "\n".join([*lines, "", "end", ""])}


def _function(package: Package, number: int, program: Program) -> list[str]:
    body = write_task(package, number, syntax(package.precision))
    task = package.tasks.code[program.name]
    inputs = {package.arrays.code[item.name]: item for _, item in arguments(program)}
    outputs = [package.output(program, out.name) for out in program.outputs]
    kind = "Float64" if package.precision == "double" else "Float32"
    types = ", ".join([kind, *(f"eltype({name})" for name in inputs)])
    made = [f"zeros(number_type, {', '.join(map(str, out.shape or (1,)))})" for out in program.outputs]
    doc = ['@doc raw"""', *describe(package, program, ""), '"""']
    lines = [*doc, f"function {task}({', '.join(inputs)})", f"    number_type = promote_type({types})"]
    lines += [f"    return {task}!({', '.join([*made, *inputs])})", "end", ""]
    lines += [f"function {task}!({', '.join([*outputs, *inputs])})"]
    for name, item in inputs.items():
        message = f'"{name} has length $(length({name})), wanted {item.size}"'
        lines.append(f"    length({name}) == {item.size} || throw(DimensionMismatch({message}))")
    lines += [f"    {line}" for line in body.lines]
    for out, name, values in zip(program.outputs, outputs, body.results, strict=True):
        lines += [f"    {name}[{_subscript(out, k)}] = {value}" for k, value in enumerate(values)]
    return [*lines, f"    return {', '.join(outputs)}", "end"]


def _subscript(out: Output, flat: int) -> str:
    where: list[str] = []
    for size in reversed(out.shape):
        flat, k = divmod(flat, size)
        where.append(str(k + 1))
    return ", ".join(reversed(where)) or "1"


TARGET = Julia()
