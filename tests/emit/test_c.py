"""The C target: it compiles without a warning, its self-test passes and can fail, its values are the graph's."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.emit import TARGETS, emit, write_files
from kane.errors import InputError, KaneError, UnknownNameError, UnsupportedError
from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, Instruction, Output, Program, build_program

sys.path.insert(0, str(Path(__file__).parent))
from emit_models import all_functions, two_link

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on PATH")


def build(folder: Path, main: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Compile one of the programs beside the library with all warnings as errors, and run it."""
    stem = next(folder.glob("*.h")).stem
    exe = folder / main
    files = [str(folder / f"{stem}_{main}.c"), str(folder / f"{stem}.c")]
    subprocess.run(["gcc", *STRICT, *flags, "-o", str(exe), *files, "-lm"], check=True, capture_output=True, text=True)
    return subprocess.run([str(exe)], capture_output=True, text=True)


CASES = {
    "numbers": two_link(),
    "parameters": two_link(("m1", "l2", "grav")),
    "awkward": two_link(("m2",), ("lambda", "x_{1}")),
    "functions": (all_functions(),),
    "functions of a parameter": (all_functions(True),),
}


@needs_gcc
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("case", CASES)
def test_self_test_and_example(case, precision, tmp_path):
    write_files(emit(CASES[case], "c", case, precision, notes=("SI units",)), tmp_path)
    ran = build(tmp_path, "selftest")
    assert (ran.returncode, ran.stdout) == (0, "ok\n")
    assert build(tmp_path, "example").returncode == 0


@needs_gcc
def test_self_test_fails_on_a_wrong_coefficient(tmp_path):
    files = emit(two_link(), "c", "arm")
    number = re.search(r"KANE_FMA\((\d+\.\d{3,})", files["arm.c"])
    assert number is not None
    files["arm.c"] = files["arm.c"].replace(number[1], number[1][:-1] + str((int(number[1][-1]) + 1) % 10))
    write_files(files, tmp_path)
    ran = build(tmp_path, "selftest")
    assert ran.returncode == 1 and "wanted" in ran.stdout and "ok" not in ran.stdout


@needs_gcc
@pytest.mark.parametrize("precision", ["double", "float"])
def test_values_are_those_of_the_graph(precision, tmp_path):
    """Called through ctypes at states other than the stored ones."""
    import ctypes

    programs = two_link(("m1", "grav"))
    write_files(emit(programs, "c", "arm", precision), tmp_path)
    library = tmp_path / "arm.so"
    command = ["gcc", *STRICT, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "arm.c"), "-lm"]
    subprocess.run(command, check=True)
    lib = ctypes.CDLL(str(library))
    kind, tolerance = (np.float64, 4e-15) if precision == "double" else (np.float32, 2e-6)
    pointer = np.ctypeslib.ndpointer(dtype=kind)
    rng = np.random.default_rng(3)
    size = int(re.search(r"ARM_CONSTANTS (\d+)", (tmp_path / "arm.h").read_text())[1])
    lib.arm_constants.argtypes = [pointer] * 2
    lib.arm_inverse_dynamics.argtypes = [pointer] * 5
    lib.arm_mass_matrix.argtypes = [pointer] * 3
    for _ in range(20):
        q, qd, qdd = (rng.uniform(-3, 3, 2).astype(kind) for _ in range(3))
        p = rng.uniform(0.5, 10, 2).astype(kind)
        k, tau, M = np.zeros(size, kind), np.zeros(2, kind), np.zeros((2, 2), kind)
        lib.arm_constants(p, k)
        lib.arm_inverse_dynamics(q, qd, qdd, k, tau)
        lib.arm_mass_matrix(q, k, M)
        given = {"q": q, "qd": qd, "qdd": qdd, "p": p}
        want = evaluate(programs[0], given)["tau"]
        np.testing.assert_allclose(tau, want, rtol=tolerance, atol=tolerance * 50)
        np.testing.assert_allclose(M, evaluate(programs[1], given)["M"], rtol=tolerance, atol=tolerance)


@needs_gcc
def test_overlapping_arrays_and_fma_override(tmp_path):
    write_files(emit(two_link(), "c", "arm"), tmp_path)
    assert build(tmp_path, "selftest", "-DKANE_FMA(a,b,c)=((a)*(b)+(c))").stdout == "ok\n"
    body = (tmp_path / "arm.c").read_text().split("void arm_inverse_dynamics")[1].split("}")[0].splitlines()
    reads = [i for i, line in enumerate(body) if re.search(r"= q\w*\[", line)]
    writes = [i for i, line in enumerate(body) if line.strip().startswith("tau[")]
    assert max(reads) < min(writes)


@needs_gcc
@pytest.mark.parametrize("case", CASES)
def test_long_functions_are_cut_into_parts(case, tmp_path, monkeypatch):
    from kane.emit import c_parts

    whole = emit(CASES[case], "c", case)
    monkeypatch.setattr(c_parts, "LONG", 3)
    monkeypatch.setattr(c_parts, "SIZE", 4)
    files = emit(CASES[case], "c", case)
    (source,) = (text for name, text in files.items() if name.endswith(".c") and name[:-2] + ".h" in files)
    assert source.count("static void") >= 3
    assert {n: t for n, t in files.items() if t != source} == {n: whole[n] for n in files if files[n] != source}
    write_files(files, tmp_path)
    assert build(tmp_path, "selftest").stdout == "ok\n"


def test_library_has_no_state_and_documents_itself():
    files = emit(two_link(("m1",), ("lambda", "x_{1}")), "c", "lambda", notes=("tau: joint torques, N m",))
    assert sorted(files) == ["lambda.c", "lambda.h", "lambda_example.c", "lambda_selftest.c"]
    source, head = files["lambda.c"], files["lambda.h"]
    assert not re.search(r"^(static\s+)?(const\s+)?double\s+\w+\s*(=|;|\[)", source, re.M)  # no variable at file level
    assert "alloc" not in source
    counts = two_link(("m1",))[0].counts
    assert f"{counts.total} operations ({counts.mul} mul, {counts.add} add)" in head
    legend = ("lambda_ = lambda", "x_1 = x_{1}", "x_1_d = x_{1}.d")
    for text in (*legend, "tau: joint torques, N m", "p[1] (parameters): m1"):
        assert text in head
    assert "/* link 2: F* */" in source
    assert len(files["lambda_example.c"].splitlines()) <= 20


def test_constants_are_computed_once_for_all_tasks():
    """Shared run-time constants have one place in k; constants of numbers are literals with their formula."""
    head = emit(two_link(("m1",)), "c", "arm")["arm.h"]
    assert "#define ARM_CONSTANTS 2\n" in head
    source = emit([all_functions()], "c", "f")["f.c"]
    assert "= 0.2955202066613396;  /* sin(0.3) */" in source  # sin(3/10) = 0.29552020666133957510..., rounded once
    assert f"= {math.sqrt(5)!r};  /* sqrt(5) */" in source and "_constants" not in source


def test_unknown_function_names_itself_and_the_target():
    values = (Instruction("input", (), (0, 0), "x"), Instruction("gudermann", (0,)))
    program = Program("f", (Input("q", ("x",)),), (Output("y", (), (2,)),), values, 1, 1)
    for target in sorted(TARGETS):
        with pytest.raises(UnsupportedError, match=rf"{target}.*gudermann|gudermann.*{target}"):
            emit([program], target)


def test_one_program_needs_no_list():
    program = all_functions()
    for target in TARGETS:
        assert emit(program, target, "f") == emit([program], target, "f")


def test_refusals():
    with pytest.raises(UnknownNameError, match=r"'cobol'.*c, "):
        emit(two_link(), "cobol")
    with pytest.raises(UnknownNameError, match="half"):
        emit(two_link(), "c", precision="half")
    with pytest.raises(InputError, match="two tasks"):
        emit([all_functions(), all_functions()], "c")
    with pytest.raises(InputError, match="'q'"):
        emit([two_link()[0], two_link(names=("a", "b"))[1]], "c")
    g = Graph()
    huge = build_program(g, "f", [], [("y", (), (g.number(Fraction(10) ** 400),))])
    with pytest.raises(KaneError, match="does not fit"):
        emit([huge], "c")


def test_same_bytes_under_any_hash_seed():
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1])\n"
        "from emit_models import two_link, all_functions\n"
        "from kane.emit import emit, TARGETS\n"
        "for t in TARGETS:\n"
        "    for programs in (two_link(('m1', 'l2'), ('lambda', 'x_{1}')), [all_functions(True)]):\n"
        "        for name, text in emit(programs, t, 'arm').items():\n"
        "            print(name, hashlib.sha256(text.encode()).hexdigest())\n"
    )
    runs = []
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code, str(Path(__file__).parent)]
        runs.append(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)
    assert runs[0] == runs[1] and "arm.c" in runs[0]
