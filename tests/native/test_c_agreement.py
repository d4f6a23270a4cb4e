"""Machine code and C made of the same program agree to the last bit."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kane.emit import emit
from kane.emit.c_sincos import sincos_source
from kane.graph.program import Program
from kane.native import compile_program
from kane.native.build import sort_constants
from kane.rewrite.fuse import fuse

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC"]


def plain_c(program: Program, kind: str) -> str:
    """The program statement by statement, nothing clever."""
    tail = "" if kind == "double" else "f"
    lines = []

    def use(ref: int) -> str:
        return f"(-v{ref >> 1})" if ref & 1 else f"v{ref >> 1}"

    constants = sort_constants(program, "float64" if kind == "double" else "float32").folded
    for index, (op, args, payload, _) in enumerate(program.values):
        a = [use(r) for r in args]
        match op:
            case _ if index in constants:
                text = f"({kind}){constants[index].hex()}"
            case "input":
                assert isinstance(payload, tuple)
                text = f"x{payload[0]}[{payload[1]}]"
            case "add" | "mul" | "div":
                text = f" {dict(add='+', mul='*', div='/')[op]} ".join(a)
            case "fma" | "sqrt" | "tanh":
                text = f"{op}{tail}({', '.join(a)})"
            case "sin" | "cos":
                text = f"kane_{op}({a[0]})"
            case _:
                raise AssertionError(op)
        lines.append(f"    const {kind} v{index} = {text};")
    for n, out in enumerate(program.outputs):
        lines += [f"    y{n}[{k}] = {use(r)};" for k, r in enumerate(out.refs)]
    arguments = [f"const {kind} *x{i}" for i in range(len(program.inputs))]
    arguments += [f"{kind} *y{i}" for i in range(len(program.outputs))]
    unused = [f"    (void)v{i};" for i in range(len(program.values))]
    head = f"void f({', '.join(arguments)})"
    helpers = sincos_source(kind, "fma" + tail)
    includes = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
    return "\n".join([includes, helpers, head + ";", head, "{", *lines, *unused, "}", ""])


@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("flags", [[], ["-march=native", "-O3"]], ids=["generic", "native"])
def test_equal_bits(random_program: Callable[..., Program], tmp_path: Path, kind: str, flags: list[str]) -> None:
    program = random_program(3, functions=False, parameters=False, size=120)
    source, library = tmp_path / "f.c", tmp_path / "f.so"
    source.write_text(plain_c(fuse(program), kind))
    subprocess.run([COMPILER, *FLAGS, *flags, str(source), "-o", str(library), "-lm"], check=True)
    dtype = "float64" if kind == "double" else "float32"
    f = compile_program(program, dtype)
    call = ctypes.CDLL(str(library)).f
    rng = np.random.default_rng(0)
    for scale in (0.3, 1.0, 100.0, 3e4, 1e7):
        arrays = [rng.uniform(-scale, scale, i.size).astype(dtype) for i in program.inputs]
        arrays[1] /= np.asarray(scale, dtype)
        outs = [np.empty(o.shape, dtype) for o in program.outputs]
        call(*(ctypes.c_void_p(a.ctypes.data) for a in [*arrays, *outs]))
        for mine, theirs in zip(f(*arrays), outs, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("kind", ["double", "float"])
def test_printed_c_agrees(two_link: Program, random_program: Callable[..., Program], tmp_path: Path, kind: str) -> None:
    """The C target's own files, run-time parameters included."""
    program = random_program(6, functions=False, parameters=False, size=120).renamed("task")
    dtype = "float64" if kind == "double" else "float32"
    p = np.array([1.5, 0.7, 1.1, 0.3, 9.81], dtype)
    rng = np.random.default_rng(1)
    for each, model in ((program, "first"), (two_link, "second")):
        for name, text in emit([each], "c", model, "double" if kind == "double" else "float").items():
            (tmp_path / name).write_text(text)
        library = tmp_path / f"{model}.so"
        subprocess.run([COMPILER, *FLAGS, str(tmp_path / f"{model}.c"), "-o", str(library), "-lm"], check=True)
        loaded, f = ctypes.CDLL(str(library)), compile_program(each, dtype)
        constants, given = np.zeros(64, dtype), [p] if each is two_link else []
        if given:
            loaded.second_constants(ctypes.c_void_p(p.ctypes.data), ctypes.c_void_p(constants.ctypes.data))
        for scale in (1.0, 50.0, 1e6):
            arrays = [rng.uniform(-1, 1, i.size).astype(dtype) for i in each.inputs if i.kind == "state"]
            arrays[0] *= np.asarray(scale, dtype)
            outs = [np.empty(o.shape, dtype) for o in each.outputs]
            passed = [*arrays, *([constants] if given else []), *outs]
            getattr(loaded, f"{model}_{each.name}")(*(ctypes.c_void_p(a.ctypes.data) for a in passed))
            mine = f(*arrays, *given)
            for a, b in zip(mine if isinstance(mine, tuple) else (mine,), outs, strict=True):
                np.testing.assert_array_equal(a, b)
