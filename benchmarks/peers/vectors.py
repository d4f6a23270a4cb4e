"""CasADi's C for one state turned into C for vectors of states, which no library does.

    python benchmarks/peers/vectors.py DIR

For each DIR/TASK.c (benchmarks/peers/build.py makes them) a library DIR/TASK_vectors.so with

    void TASK_vectors(long long groups, const double *in, double *out)

`in` holds group after group of W states (W: doubles of the machine's widest vector): element after element of all
inputs, each the W values of the group side by side; `out` likewise.  So the data lie as suits vectors best; sines and
cosines are those of glibc's libmvec.  Wants gcc and glibc.  kane bench ROBOT --libraries DIR times these beside ours.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ASSIGNMENT = re.compile(r"^\s*(?:if \(res\[\d+\]!=0\) )?([^=]+)=(.*);$")
ELEMENT = re.compile(r"(arg|res)\[(\d+)\](?:\? \1\[\2\])?\[(\d+)\](?: : 0)?")
CONSTANT = re.compile(r"^-?[\d.]+(?:e[+-]?\d+)?\.?$")
CALL = re.compile(r"^(sin|cos|sqrt|casadi_sq)\((\w+)\)$")
HEAD = """// made by benchmarks/peers/vectors.py from {source}
#include <math.h>
#ifdef __AVX512F__
#define W 8
#define VECTOR(f) _ZGVeN8v_##f
#else
#define W 4
#define VECTOR(f) _ZGVdN4v_##f
#endif
typedef double V __attribute__((vector_size(8 * W)));
V VECTOR(sin)(V);
V VECTOR(cos)(V);
static inline V root(V x) {{
  for (int k = 0; k < W; ++k) x[k] = sqrt(x[k]);
  return x;
}}
int {name}_width(void) {{ return W; }}
void {name}(long long groups, const double *in, double *out) {{
  const V *x = (const V *)in;
  V *y = (V *)out;
  V {variables};
  for (long long g = 0; g < groups; ++g, x += {read}, y += {written}) {{
"""


def sizes(text: str, which: str) -> list[int]:
    """Elements of each input ("in") or output ("out"), from the sparsity patterns in CasADi's file."""
    patterns = {
        name: [int(n) for n in numbers.split(",")]
        for name, numbers in re.findall(r"casadi_int (casadi_s\d+)\[\d+\] = \{([^}]*)\}", text)
    }
    body = text[text.index(f"_sparsity_{which}(casadi_int i)") :]
    used = re.findall(r"case \d+: return (casadi_s\d+);", body[: body.index("default")])
    return [p[0] * p[1] if p[2] == 1 else p[2 + p[1]] for p in (patterns[name] for name in used)]


def statement(line: str, starts: dict[str, list[int]]) -> str | None:
    """One assignment for vectors; None where the line is none."""
    found = ASSIGNMENT.match(line)
    if found is None:
        return None

    def element(place: re.Match[str]) -> str:
        array, k = place[1], starts[place[1]][int(place[2])] + int(place[3])
        return f"{'x' if array == 'arg' else 'y'}[{k}]"

    target, value = (ELEMENT.sub(element, side.strip()) for side in found.groups())
    call = CALL.match(value)
    if CONSTANT.match(value):
        value = f"(V){{}} + {value}"
    elif call is not None:
        f, a = call.groups()
        value = {"casadi_sq": f"{a} * {a}", "sqrt": f"root({a})"}.get(f, f"VECTOR({f})({a})")
    return f"    {target} = {value};"


def vectorised(text: str, task: str, source: str) -> str:
    """The C text for vectors from CasADi's C text."""
    start = text.index("static int casadi_f0(")
    lines = text[start : text.index("\n}\n", start)].splitlines()
    starts = {}
    for array, which in (("arg", "in"), ("res", "out")):
        counted = sizes(text, which)
        starts[array] = [sum(counted[:k]) for k in range(len(counted) + 1)]
    body = [made for line in lines if (made := statement(line, starts)) is not None]
    names = sorted(set(re.findall(r"\ba\d+\b", "\n".join(body))))
    head = HEAD.format(
        source=source, name=f"{task}_vectors", variables=", ".join(names), read=starts["arg"][-1],
        written=starts["res"][-1],
    )  # fmt: skip
    return head + "\n".join(body) + "\n  }\n}\n"


def build(folder: Path) -> None:
    for source in sorted(folder.glob("*.c")):
        if source.stem.endswith("_vectors"):
            continue
        made = source.with_name(f"{source.stem}_vectors.c")
        made.write_text(vectorised(source.read_text(), source.stem, source.name))
        library = made.with_suffix(".so")
        flags = ["-O3", "-march=native", "-mprefer-vector-width=512", "-fPIC", "-shared"]
        subprocess.run(["gcc", *flags, str(made), "-o", str(library), "-lmvec", "-lm"], check=True)
        print(library)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
