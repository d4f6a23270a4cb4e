"""NumPy: a self-contained Python module, vectorised over leading axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.emit.code import Syntax, describe, header, write_task
from kane.emit.target import Package, arguments
from kane.graph.program import Output, Program

SYNTAX = Syntax(
    target="numpy",
    declare="{name} = {value}",
    remark="# {text}",
    access="{array}[..., {index}]",
    functions={
        "sqrt": "np.sqrt({0})",
        "sin": "np.sin({0})",
        "cos": "np.cos({0})",
        "tan": "np.tan({0})",
        "asin": "np.arcsin({0})",
        "acos": "np.arccos({0})",
        "atan": "np.arctan({0})",
        "atan2": "np.arctan2({0}, {1})",
        "exp": "np.exp({0})",
        "log": "np.log({0})",
        "sinh": "np.sinh({0})",
        "cosh": "np.cosh({0})",
        "tanh": "np.tanh({0})",
        "abs": "np.abs({0})",
        "sign": "np.sign({0})",
        "select": "np.where({0} > 0.0, {1}, {2})",
        "min": "np.minimum({0}, {1})",
        "max": "np.maximum({0}, {1})",
        "pow": "np.power({0}, {1})",
    },
)

_ARRAY = '''
def _array(values, name, size):
    """The argument as an array (..., size)."""
    array = np.asarray(values, dtype=np.{dtype})
    if array.ndim == 0 or array.shape[-1] != size:
        raise ValueError(f"{{name}} has shape {{array.shape}}, wanted (..., {{size}})")
    return array
'''


def python_head(package: Package, imports: Sequence[str]) -> list[str]:
    """The raw docstring of a generated module and its imports."""
    first, *rest = header(package, flat=False)
    return [f'r"""{first}', *rest, '"""', "", *imports, ""]


def docstring(lines: Sequence[str]) -> list[str]:
    """An indented raw docstring."""
    first, *rest = lines
    return [f'    r"""{first}', *(f"    {line}".rstrip() for line in rest), '    """']


@dataclass(frozen=True, slots=True)
class NumPy:
    """The NumPy target: one function a task."""

    name: str = "numpy"
    fused: bool = False

    def render(self, package: Package) -> dict[str, str]:
        dtype = "float64" if package.precision == "double" else "float32"
        lines = [*python_head(package, ["import numpy as np"]), *_ARRAY.format(dtype=dtype).splitlines()]
        for number, program in enumerate(package.programs):
            lines += ["", "", *_function(package, number, program, dtype)]
        return {f"{package.name}_numpy.py": "\n".join(lines) + "\n"}


def _function(package: Package, number: int, program: Program, dtype: str) -> list[str]:
    body = write_task(package, number, SYNTAX)
    names = {package.arrays.code[item.name]: item for _, item in arguments(program)}
    lines = [f"def {package.tasks.code[program.name]}({', '.join(names)}):", *docstring(describe(package, program))]
    lines += [f'    {name} = _array({name}, "{name}", {item.size})' for name, item in names.items()]
    lines.append(f"    batch = np.broadcast_shapes({', '.join(f'{name}.shape[:-1]' for name in names)})")
    lines.append('    with np.errstate(all="ignore"):')
    lines += [f"        {line}" for line in body.lines]
    results = []
    for out, values in zip(program.outputs, body.results, strict=True):
        name = package.output(program, out.name)
        results.append(name)
        lines.append(f"        {name} = np.empty((*batch, {', '.join(map(str, out.shape))}), dtype=np.{dtype})")
        lines += [f"        {name}[{subscript(out, k)}] = {value}" for k, value in enumerate(values)]
    return [*lines, f"    return {', '.join(results)}"]


def subscript(out: Output, flat: int) -> str:
    """`..., i, j` of a row-major position."""
    where: list[str] = []
    for size in reversed(out.shape):
        flat, k = divmod(flat, size)
        where.append(str(k))
    return ", ".join(["...", *reversed(where)])


TARGET = NumPy()
