"""CasADi: a Python module that builds a casadi.Function for each task."""

from __future__ import annotations

from dataclasses import dataclass

from kane.emit.code import Syntax, describe, write_task
from kane.emit.numpy_ import docstring, python_head
from kane.emit.target import Package, arguments
from kane.graph.program import Program

SYNTAX = Syntax(
    target="casadi",
    declare="{name} = {value}",
    remark="# {text}",
    access="{array}[{index}]",
    functions={n: f"ca.{n}({{0}})" for n in "sqrt sin cos tan asin acos atan exp log sinh cosh tanh sign".split()}
    | {
        "atan2": "ca.atan2({0}, {1})",
        "abs": "ca.fabs({0})",
        "select": "ca.if_else({0} > 0.0, {1}, {2})",
        "min": "ca.fmin({0}, {1})",
        "max": "ca.fmax({0}, {1})",
        "pow": "ca.power({0}, {1})",
    },
)


@dataclass(frozen=True, slots=True)
class CasADi:
    """The CasADi target; casadi computes in double whatever the precision of the literals."""

    name: str = "casadi"
    fused: bool = False

    def render(self, package: Package) -> dict[str, str]:
        lines = python_head(package, ["import casadi as ca"])
        for number, program in enumerate(package.programs):
            lines += ["", *_function(package, number, program), ""]
        return {f"{package.name}_casadi.py": "\n".join(lines).rstrip("\n") + "\n"}


def _function(package: Package, number: int, program: Program) -> list[str]:
    body = write_task(package, number, SYNTAX)
    names = {package.arrays.code[item.name]: item for _, item in arguments(program)}
    task = package.tasks.code[program.name]
    first, *rest = describe(package, program, "")
    lines = [f"def {task}():", *docstring([f"casadi.Function: {first}", *rest])]
    lines += [f'    {name} = ca.SX.sym("{name}", {item.size})' for name, item in names.items()]
    lines += [f"    {line}" for line in body.lines]
    outputs = []
    for out, values in zip(program.outputs, body.results, strict=True):
        name = package.output(program, out.name)
        outputs.append(name)
        rows, columns = (out.shape[0], len(values) // max(out.shape[0], 1)) if out.shape else (1, 1)
        lines.append(f"    {name} = ca.SX.zeros({rows}, {columns})")
        lines += [f"    {name}[{k // columns}, {k % columns}] = {value}" for k, value in enumerate(values)]
    quoted = [", ".join(f'"{name}"' for name in group) for group in (names, outputs)]
    arrays = f"[{', '.join(names)}], [{', '.join(outputs)}], [{quoted[0]}], [{quoted[1]}]"
    return [*lines, f'    return ca.Function("{task}", {arrays})']


TARGET = CasADi()
