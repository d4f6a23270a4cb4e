"""What is written and reported is the same to the byte under any hash seed."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
from kane import robots
from kane.formats import read, write_toml, write_urdf
from kane.mechanism import edit
from kane.mechanism.checks import judge
from kane.robots.generated import ALL_TYPES, tree
for name in robots.names():
    m = robots.load(name)
    print(repr(m.report), write_toml(m), write_urdf(edit.lump(m)))
m = judge(tree(30, types=ALL_TYPES, seed=1, extras=True), "accept")
print(edit.with_payload(edit.lump(m), "link3", "mm", ("a", "b", "c")))
print(read("# standard DH\\njoint,alpha,a,d,theta,mass\\n1,b,c,d,q1,e\\n2,x*y,z,0,q2,w\\n"))
"""


def test_hash_seeds_do_not_matter() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 10_000
