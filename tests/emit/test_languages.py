"""The other languages: generated code has the values of the graph, wherever the language is installed."""

from __future__ import annotations

import importlib.util
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kane.emit import TARGETS, emit, write_files
from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.rewrite.fuse import fuse

sys.path.insert(0, str(Path(__file__).parent))
from emit_models import all_functions, two_link

CASES = {
    "numbers": two_link(),
    "parameters": two_link(("m1", "l2", "grav"), ("lambda", "x_{1}")),
    "functions": (all_functions(),),
    "functions of a parameter": (all_functions(True),),
}


def states(program, batch=(), seed=0):
    """Random inputs of every array."""
    rng = np.random.default_rng(seed)
    shapes = {i.name: (*batch, i.size) for i in program.inputs}
    return {name: rng.uniform(0.3, 1.4, shape) * rng.choice([-1, 1], shape) for name, shape in shapes.items()}


def positive(given):
    """The same with positive parameters."""
    return {name: abs(x) if name == "p" else x for name, x in given.items()}


def module(text: str, folder: Path):
    """A generated Python file as a module."""
    path = folder / "generated.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("generated", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def tupled(x):
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
@pytest.mark.parametrize("case", CASES)
def test_numpy(case, batch, tmp_path):
    (text,) = emit(CASES[case], "numpy", case).values()
    imports = [line for line in text.splitlines() if line.startswith(("import", "from"))]
    assert imports == ["import numpy as np"]
    made = module(text, tmp_path)
    for program in CASES[case]:
        given = positive(states(program, batch))
        results = tupled(getattr(made, program.name)(*given.values()))
        for out, got in zip(program.outputs, results, strict=True):
            want = evaluate(program, given)[out.name]
            assert got.shape == want.shape and got.dtype == np.float64
            np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)
        doc = getattr(made, program.name).__doc__
        assert all(label in doc for item in program.inputs for label in item.labels)


def test_numpy_broadcasts_checks_shapes_and_keeps_warnings_in(tmp_path):
    made = module(*emit(two_link(("m1",)), "numpy", "arm").values(), tmp_path)
    q = np.zeros((4, 1, 2))
    assert made.mass_matrix(q, np.ones((3, 1))).shape == (4, 3, 2, 2)
    with pytest.raises(ValueError, match=r"q has shape \(3,\), wanted \(\.\.\., 2\)"):
        made.mass_matrix(np.zeros(3), [1.0])
    wild = module(*emit([all_functions()], "numpy", "f").values(), tmp_path)
    assert np.isnan(wild.everything([np.inf, np.nan, 0, 0])[0]).any()


def test_numpy_single_precision(tmp_path):
    program = two_link()[0]
    made = module(*emit([program], "numpy", "arm", "float").values(), tmp_path)
    given = states(program, (7,))
    got = made.inverse_dynamics(*given.values())
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, evaluate(program, given)["tau"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_casadi(case, tmp_path):
    pytest.importorskip("casadi")
    made = module(*emit(CASES[case], "casadi", case).values(), tmp_path)
    for program in CASES[case]:
        given = positive(states(program))
        results = tupled(getattr(made, program.name)()(*given.values()))
        for out, got in zip(program.outputs, results, strict=True):
            want = evaluate(program, given)[out.name]
            np.testing.assert_allclose(np.array(got).reshape(want.shape), want, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
@pytest.mark.parametrize("case", CASES)
def test_jax(case, batch, tmp_path):
    jax = pytest.importorskip("jax")
    with jax.experimental.enable_x64() if hasattr(jax.experimental, "enable_x64") else jax.enable_x64(True):
        made = module(*emit(CASES[case], "jax", case).values(), tmp_path)
        for program in CASES[case]:
            given = positive(states(program, batch))
            results = tupled(jax.jit(getattr(made, program.name))(*given.values()))
            for out, got in zip(program.outputs, results, strict=True):
                want = evaluate(program, given)[out.name]
                assert got.shape == want.shape
                np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)


def test_jax_has_one_pass_of_sines():
    """Sines and cosines of the angles q1, q2, q1 + q2 come from one array each."""
    (text,) = emit(two_link()[:1], "jax", "arm").values()
    assert text.count("jnp.sin(") == 1 and text.count("jnp.cos(") == 1
    assert text.index("jnp.cos(angles)") < text.index("cos_q1 = cosines[")


@pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc on PATH")
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("case", CASES)
def test_rust(case, precision, tmp_path):
    programs = CASES[case]
    write_files(emit(programs, "rust", "arm", precision), tmp_path)
    kind, tolerance = ("f64", 1e-13) if precision == "double" else ("f32", 3e-5)
    lines, wants = ["#![deny(warnings)]", "mod arm;", "fn main() {"], []
    for program in programs:
        given = {n: np.float32(x).astype(float) for n, x in positive(states(program)).items()}
        takes = [f"&{list(map(float, given[i.name]))}" for i in program.inputs if i.kind == "state"]
        lines.append("    {")
        if "p" in given and "pub fn constants" in (tmp_path / "arm.rs").read_text():
            size = (tmp_path / "arm.rs").read_text().split(f"k: &mut [{kind}; ")[1].split("]")[0]
            lines.append(f"        let mut k = [0.0{kind}; {size}];")
            lines.append(f"        arm::constants(&{list(map(float, given['p']))}, &mut k);")
            takes.append("&k")
        for n, out in enumerate(program.outputs):
            lines.append(f"        let mut r{n} = [0.0{kind}; {len(out.refs)}];")
            takes.append(f"&mut r{n}")
        lines.append(f"        arm::{program.name}({', '.join(takes)});")
        for n, out in enumerate(program.outputs):
            lines.append(f'        for x in r{n}.iter() {{ println!("{{:?}}", x); }}')
            wants += list(np.ravel(evaluate(program, given)[out.name]))
        lines.append("    }")
    (tmp_path / "main.rs").write_text("\n".join([*lines, "}", ""]))
    subprocess.run(["rustc", "-o", str(tmp_path / "main"), str(tmp_path / "main.rs")], check=True, capture_output=True)
    ran = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, text=True)
    np.testing.assert_allclose([float(x) for x in ran.stdout.split()], wants, rtol=tolerance, atol=tolerance)


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="no octave on PATH")
@pytest.mark.parametrize("case", CASES)
def test_octave(case, tmp_path):
    programs = CASES[case]
    write_files(emit(programs, "matlab", "arm"), tmp_path)
    lines, wants = [], []
    for program in programs:
        given = positive(states(program, (3,)))
        rows = [[" ".join(map(repr, map(float, row))) for row in given[i.name].T] for i in program.inputs]
        arrays = [f"[{'; '.join(r)}]" for r in rows]
        outputs = [f"r{n}" for n in range(len(program.outputs))]
        lines.append(f"[{', '.join(outputs)}] = arm_{program.name}({', '.join(arrays)});")
        for out, name in zip(program.outputs, outputs, strict=True):
            lines.append(f"printf('%.17g\\n', {name});")
            wants += list(np.moveaxis(evaluate(program, given)[out.name], 0, -1).ravel(order="F"))
    (tmp_path / "main.m").write_text("\n".join(lines) + "\n")
    command = ["octave-cli", "--no-init-file", "--quiet", "main.m"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    np.testing.assert_allclose([float(x) for x in ran.stdout.split()], wants, rtol=1e-13, atol=1e-14)


@pytest.mark.skipif(shutil.which("julia") is None, reason="no julia on PATH")
@pytest.mark.parametrize("case", CASES)
def test_julia(case, tmp_path):
    programs = CASES[case]
    write_files(emit(programs, "julia", "arm"), tmp_path)
    lines, wants = ['include("arm.jl")'], []
    for program in programs:
        given = positive(states(program))
        arrays = [f"[{', '.join(map(repr, map(float, given[i.name])))}]" for i in program.inputs]
        lines.append(f"for r in {'(' if len(program.outputs) == 1 else ''}Arm.{program.name}({', '.join(arrays)})")
        lines[-1] += ",)" if len(program.outputs) == 1 else ""
        lines += ["  foreach(println, permutedims(r, reverse(1:ndims(r))))", "end"]
        for out in program.outputs:
            wants += list(np.ravel(evaluate(program, given)[out.name]))
    (tmp_path / "main.jl").write_text("\n".join(lines) + "\n")
    ran = subprocess.run(["julia", "main.jl"], check=True, capture_output=True, text=True, cwd=tmp_path)
    np.testing.assert_allclose([float(x) for x in ran.stdout.split()], wants, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("target", ["julia", "matlab", "rust", "casadi", "jax"])
def test_outline(target):
    """What can be checked without the language: legend, counts, notes, names, no keyword of the user's left bare."""
    programs = two_link(("m1",), ("lambda", "end"))
    files = emit(programs, target, "arm", notes=("gravity along -y",))
    text = "\n".join(files.values())
    assert "lambda_ = lambda" in text and "end_ = end" in text and "gravity along -y" in text
    assert f"{programs[0].counts.total} operations" in text
    assert all(t.endswith("\n") for t in files.values())


def odd_programs():
    """A task without inputs, and one whose name, arrays and elements collide with each other and with the frames."""
    g = Graph()
    x, k = g.symbol("q"), g.symbol("tau")
    constant = build_program(g, "nothing in: 1*", [], [("y", (2,), (g.number(2), g.sqrt(g.number(2))))])
    names = [Input("tau", ("tau", "empty")), Input("k", ("q", "np"))]
    clash = build_program(g, "jac:tool-0", names, [("tau", (), (g.mul(x, k),)), ("k", (1, 1), (g.add(x, k),))])
    return [constant, clash]


def test_odd_programs(tmp_path):
    programs = odd_programs()
    made = module(*emit(programs, "numpy", "odd").values(), tmp_path)
    np.testing.assert_array_equal(made.nothing_in_1(), [2.0, math.sqrt(2)])
    tau, k = made.jac_tool_0([3.0, np.nan], [5.0, np.inf])
    assert tau == 15.0 and k.tolist() == [[8.0]]
    for target in TARGETS:
        for some in (programs, []):
            files = emit(some, target, "odd")
            assert all(text.endswith("\n") for text in files.values())
    if shutil.which("gcc"):
        write_files(emit(programs, "c", "odd"), tmp_path)
        for main in ("selftest", "example"):
            flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", str(tmp_path / main)]
            files = [str(tmp_path / f"odd_{main}.c"), str(tmp_path / "odd.c")]
            subprocess.run(["gcc", *flags, *files, "-lm"], check=True)
            subprocess.run([str(tmp_path / main)], check=True, capture_output=True)
    if shutil.which("octave-cli"):
        write_files(emit(programs, "matlab", "odd"), tmp_path)
        (tmp_path / "main.m").write_text("printf('%g ', odd_nothing_in_1(), odd_jac_tool_0([3; 0], [5; 0]));\n")
        ran = subprocess.run(["octave-cli", "-q", "main.m"], check=True, capture_output=True, text=True, cwd=tmp_path)
        assert [float(v) for v in ran.stdout.split()] == pytest.approx([2, 1.41421, 15])


def test_programs_that_come_fused_are_printed_by_all(tmp_path):
    """fma is an operation of programs: languages without it print a product and a sum of the same value."""
    program = two_link()[0]
    made = module(*emit([fuse(program)], "numpy", "arm").values(), tmp_path)
    given = states(program, (4,))
    np.testing.assert_allclose(made.inverse_dynamics(*given.values()), evaluate(program, given)["tau"], rtol=1e-13)
    for target in TARGETS:
        plain, fused = (emit([p], target, "arm") for p in (program, fuse(program)))
        assert plain.keys() == fused.keys()
        if TARGETS[target].fused or target in ("text", "latex", "mathml"):
            assert plain == fused
