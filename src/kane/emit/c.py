"""C99: one header, one source, a self-test and an example; no allocation, no globals, re-entrant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.emit.c_files import BUILD, Library, Signature, example, selftest
from kane.emit.c_parts import SPACE, Parts, is_long, write_parts
from kane.emit.c_sincos import sincos_source
from kane.emit.code import Body, Syntax, header, merge_constants, write_constants, write_task
from kane.emit.names import comment_text
from kane.emit.numbers import Precision
from kane.emit.target import Package, arguments
from kane.emit.text import counts_text, formula_text
from kane.graph.program import Program

_CONTRACT = """\
#if !defined(__GNUC__) || defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif /* gcc does not know the pragma: compile with -std=c99 or -ffp-contract=off */"""
_SAME_NAME = "tan asin acos atan atan2 exp log sinh cosh tanh pow sin cos sqrt".split()
_HELPERS = {
    "sign": "static {type} kane_sign({type} x) {{ return x > 0 ? 1 : x < 0 ? -1 : x; }}",
    "min": "static {type} kane_min({type} a, {type} b) {{ return a <= b || a != a ? a : b; }}",
    "max": "static {type} kane_max({type} a, {type} b) {{ return a >= b || a != a ? a : b; }}",
}


def syntax(precision: Precision) -> Syntax:
    """C with `double` or `float`."""
    kind, suffix = ("double", "") if precision == "double" else ("float", "f")
    functions = {name: f"{name}{suffix}({{0}})" for name in _SAME_NAME} | {
        "sin": "kane_sin({0})",
        "cos": "kane_cos({0})",
        "atan2": f"atan2{suffix}({{0}}, {{1}})",
        "pow": f"pow{suffix}({{0}}, {{1}})",
        "abs": f"fabs{suffix}({{0}})",
        "sign": "kane_sign({0})",
        "min": "kane_min({0}, {1})",
        "max": "kane_max({0}, {1})",
        "select": f"({{0}} > 0.0{suffix} ? {{1}} : {{2}})",
    }
    return Syntax(
        target="c",
        declare=f"const {kind} {{name}} = {{value}};",
        remark="/* {text} */",
        access="{array}[{index}]",
        functions=functions,
        literal=lambda text: text + suffix,
        fma=f"KANE_FMA{suffix.upper()}({{0}}, {{1}}, {{2}})",
    )


def library(package: Package) -> Library:
    """Signatures and statements of all functions."""
    how = syntax(package.precision)
    merged, places = merge_constants(package)
    count = len(merged.outputs[0].refs)
    made: list[tuple[Program, Signature, Body, Parts | None]] = []
    for number, program in enumerate(package.programs):
        state = [item for _, item in arguments(program) if item.kind == "state"]
        takes = [(True, package.arrays.code[item.name], item.size) for item in state]
        if places[number]:
            takes.append((True, "k", count))
        gives = [(False, package.output(program, out.name), len(out.refs)) for out in program.outputs]
        signature = Signature(package.function(program), (*takes, *gives))
        if is_long(program, package.baked[number]):
            passed = ", ".join([*(name for _, name, _ in takes), SPACE])
            call = f"{signature.name}_part{{part}}({passed});"
            made.append((program, signature, *write_parts(package, number, how, places[number], call)))
        else:
            made.append((program, signature, write_task(package, number, how, places[number]), None))
    constants = None
    if count:
        takes = [(True, package.arrays.code[item.name], item.size) for item in package.parameters]
        signature = Signature(f"{package.name}_constants", (*takes, (False, "k", count)))
        constants = (signature, write_constants(package, merged, how))
    return Library(package, "double" if package.precision == "double" else "float", merged, tuple(made), constants)


@dataclass(frozen=True, slots=True)
class C:
    """The C99 target."""

    name: str = "c"
    fused: bool = True

    def render(self, package: Package) -> dict[str, str]:
        lib = library(package)
        stem = package.name
        return {
            f"{stem}.h": _header(lib),
            f"{stem}.c": _source(lib),
            f"{stem}_selftest.c": selftest(lib),
            f"{stem}_example.c": example(lib),
        }


def comment(lines: Sequence[str]) -> str:
    """A block comment."""
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def _header(lib: Library) -> str:
    guard = f"KANE_{lib.package.name.upper()}_H"
    promise = "all functions are re-entrant; outputs may overlap inputs; SI units unless a note says otherwise"
    build = [f"build: {BUILD} -c {lib.package.name}.c; for another processor -O3 and, if it has no multiply-add,"]
    build += [f"-D'{_fma(lib)[0]}(a,b,c)=((a)*(b)+(c))' (ten times quicker than a library's fma; last bits may differ)"]
    lines = [comment([*header(lib.package), "", promise, *build]), f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    if lib.constants:
        lines.append(comment(["run-time constants from the parameters: call once after each change of a parameter"]))
        lines.append(f"#define {lib.package.name.upper()}_CONSTANTS {len(lib.merged.outputs[0].refs)}")
        lines += [lib.constants[0].text(lib.kind) + ";", ""]
    for program, signature, _, _ in lib.tasks:
        lines += [comment(_describe(program, lib)), signature.text(lib.kind) + ";", ""]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def _describe(program: Program, lib: Library) -> list[str]:
    lines = [f"{program.name}: {counts_text(program.counts)}"]
    for out in program.outputs:
        shape = (" x ".join(str(n) for n in out.shape) or "one number") + ", row-major" * (len(out.shape) > 1)
        lines.append(f"writes {lib.package.output(program, out.name)}: {shape}")
    return [comment_text(line) for line in lines]


def _fma(lib: Library) -> tuple[str, str]:
    """The macro of a fused multiply-add, and the suffix of the C library's functions."""
    return ("KANE_FMA", "") if lib.kind == "double" else ("KANE_FMAF", "f")


def _source(lib: Library) -> str:
    used = {f for _, _, body, _ in lib.tasks for f in body.used_functions}
    used |= lib.constants[1].used_functions if lib.constants else frozenset()
    fma, suffix = _fma(lib)
    trig = bool(used & {"sin", "cos"})
    lines = [comment(header(lib.package)), f'#include "{lib.package.name}.h"', ""]
    lines += ["#include <math.h>", *["#include <stdint.h>", "#include <string.h>"] * trig, "", _CONTRACT, ""]
    if "fma" in used or trig:
        lines.append(comment([
            "a * b + c rounded once.  For a processor without it, compile with",
            f"-D'{fma}(a,b,c)=((a)*(b)+(c))': quicker there, and the last bits of results can then differ.",
        ]))
        lines += [f"#ifndef {fma}", f"#define {fma}(a, b, c) fma{suffix}((a), (b), (c))", "#endif", ""]
    lines += [sincos_source(lib.kind, fma)] * trig
    helpers = [_HELPERS[name].format(type=lib.kind) for name in _HELPERS if name in used]
    lines += helpers + [""] * bool(helpers)
    if lib.constants:
        refs = lib.merged.outputs[0].refs
        lines += _function(lib, lib.merged, *lib.constants, remarks=[formula_text(lib.merged, r >> 1) for r in refs])
    for program, signature, body, parts in lib.tasks:
        for n, part in enumerate(parts.bodies if parts else (), 1):
            lines += _part(lib, program, signature, part, n, parts.size if parts else 0)
        lines += _function(lib, program, signature, body, space=parts.size if parts else 0)
    return "\n".join(lines)


def _part(lib: Library, program: Program, whole: Signature, body: Body, number: int, size: int) -> list[str]:
    inputs = tuple(argument for argument in whole.arguments if argument[0])
    signature = Signature(f"{whole.name}_part{number}", (*inputs, (False, SPACE, size)))
    read = {lib.package.arrays.code[program.inputs[i].name] for i in body.used_inputs}
    unread = [f"(void){name};" for _, name, _ in signature.arguments if name not in read]
    return [f"static {signature.text(lib.kind)}", "{", *(f"    {line}" for line in (*unread, *body.lines)), "}", ""]


def _function(
    lib: Library, program: Program, signature: Signature, body: Body, remarks: Sequence[str] = (), space: int = 0
) -> list[str]:
    read = {lib.package.arrays.code[program.inputs[i].name] for i in body.used_inputs} | {"k"}
    unread = [name for const, name, _ in signature.arguments if const and name not in read]
    written = [name for const, name, _ in signature.arguments if not const]
    lines = [f"{lib.kind} {SPACE}[{space}];"] * bool(space)
    lines += [f"(void){name};" for name in unread] + list(body.lines)
    for out, name, results in zip(program.outputs, written, body.results, strict=True):
        lines += [f"(void){name};"] * (not out.refs)
        for i, value in enumerate(results):
            remark = f"  /* {comment_text(remarks[i])} */" if remarks and remarks[i] else ""
            lines.append(f"{name}[{i}] = {value};{remark}")
    return [signature.text(lib.kind), "{", *(f"    {line}" for line in lines), "}", ""]


TARGET = C()
