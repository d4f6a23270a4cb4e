"""MATLAB and Octave: a function file for each task; columns of the arguments are states."""

from __future__ import annotations

from dataclasses import dataclass

from kane.emit.code import Syntax, describe, header, write_task
from kane.emit.target import Package, arguments
from kane.graph.program import Output, Program

SYNTAX = Syntax(
    target="matlab",
    declare="{name} = {value};",
    remark="% {text}",
    access="{array}({index},:)",
    first=1,
    functions={n: f"{n}({{0}})" for n in "sqrt sin cos tan asin acos atan exp log sinh cosh tanh abs sign".split()}
    | {
        "atan2": "atan2({0}, {1})",
        "select": "kane_select({0}, {1}, {2})",
        "min": "kane_min({0}, {1})",
        "max": "kane_max({0}, {1})",
        "pow": "power({0}, {1})",
    },
    times=".*",
    over="./",
)
_HELPERS = {
    "select": """\
function r = kane_select(c, a, b)
  % a where c > 0, else b
  all_of = zeros(1, max([numel(c), numel(a), numel(b)]));
  r = b + all_of;
  a = a + all_of;
  chosen = (c + all_of) > 0;
  r(chosen) = a(chosen);
end""",
    "min": """\
function r = kane_min(a, b)
  % the smaller one; not a number when one of them is not
  r = min(a, b);
  r((isnan(a) | isnan(b)) & true(size(r))) = NaN;
end""",
    "max": """\
function r = kane_max(a, b)
  % the larger one; not a number when one of them is not
  r = max(a, b);
  r((isnan(a) | isnan(b)) & true(size(r))) = NaN;
end""",
}


@dataclass(frozen=True, slots=True)
class Matlab:
    """The MATLAB target; the files work in Octave too."""

    name: str = "matlab"
    fused: bool = False

    def render(self, package: Package) -> dict[str, str]:
        return {
            f"{package.function(program)}.m": "\n".join(_function(package, number, program)) + "\n"
            for number, program in enumerate(package.programs)
        }


def _function(package: Package, number: int, program: Program) -> list[str]:
    body = write_task(package, number, SYNTAX)
    inputs = {package.arrays.code[item.name]: item for _, item in arguments(program)}
    outputs = [package.output(program, out.name) for out in program.outputs]
    kind = "double" if package.precision == "double" else "single"
    call = f"function [{', '.join(outputs)}] = {package.function(program)}({', '.join(inputs)})"
    lines = [call, *(f"% {line}".rstrip() for line in describe(package, program, ""))]
    lines += ["% A column of an argument is a state (one column serves all); the last index of results is the state."]
    lines += [f"% {line}".rstrip() for line in header(package, flat=False)]
    for name, item in inputs.items():
        lines.append(f"  if size({name}, 1) ~= {item.size}")
        lines.append(f"    error('kane:shape', '{name} has %d rows, wanted {item.size}', size({name}, 1));")
        lines += ["  end", f"  {name} = {kind}({name});"]
    lines.append(f"  batch = max([1{''.join(f', size({name}, 2)' for name, item in inputs.items() if item.size)}]);")
    lines += [f"  {line}" for line in body.lines]
    for out, name, values in zip(program.outputs, outputs, body.results, strict=True):
        shape = ", ".join(str(n) for n in out.shape or (1,))
        lines.append(f"  {name} = zeros({shape}, batch, '{kind}');")
        lines += [f"  {name}({_subscript(out, k)},:) = {value};" for k, value in enumerate(values)]
    lines.append("end")
    for op, text in _HELPERS.items():
        if op in body.used_functions:
            lines += ["", text]
    return lines


def _subscript(out: Output, flat: int) -> str:
    where: list[str] = []
    for size in reversed(out.shape):
        flat, k = divmod(flat, size)
        where.append(str(k + 1))
    return ",".join(reversed(where)) or "1"


TARGET = Matlab()
