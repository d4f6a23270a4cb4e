"""Joint types that few robot files use, against pinocchio: planar, inner floating, skew, followers of followers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kane.equations.derive import derive_task
from kane.formats import read
from kane.verification.laws import verify
from kane.verification.oracles import compare_mujoco, compare_pinocchio

BODY = (
    '<inertial><origin xyz="{x} 0.02 -0.05" rpy="0.3 -0.2 0.1"/><mass value="{m}"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.0015" izz="0.025"/></inertial>'
)


def urdf(*joints: tuple[str, str, str]) -> str:
    """A chain of joints (type, axis, further elements), each with a turned and shifted origin."""
    parts = [f'<robot name="chain"><link name="l0">{BODY.format(x=0.1, m=3)}</link>']
    for k, (kind, axis, more) in enumerate(joints, 1):
        parts.append(f'<link name="l{k}">{BODY.format(x=0.05 * k, m=2.0 - 0.3 * k)}</link>')
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="0.1 {0.2 - 0.1 * k} 0.3" rpy="{0.2 * k} -0.7 0.4"/><axis xyz="{axis}"/>'
            f'<limit lower="-1" upper="1" effort="1" velocity="1"/>{more}</joint>'
        )
    return "".join([*parts, "</robot>"])


CHAINS = {
    "planar": (("revolute", "0 1 0", ""), ("planar", "0 0 1", ""), ("continuous", "0.6 0 -0.8", "")),
    "floating": (("floating", "0 0 1", ""), ("prismatic", "1 2 -2", ""), ("revolute", "-1 0 0", "")),
    "floating inside": (("continuous", "0 0 -1", ""), ("floating", "0 0 1", ""), ("revolute", "1 1 1", "")),
    "followers": (
        ("revolute", "0 1 0", ""),
        ("prismatic", "0 0 1", '<mimic joint="j1" multiplier="-0.4" offset="0.1"/>'),
        ("continuous", "0.3 -0.5 0.8", ""),
        ("revolute", "1 0 0", '<mimic joint="j2" multiplier="2.5" offset="-0.3"/>'),
        ("revolute", "0 -1 0", '<mimic joint="j3"/>'),
    ),
}  # fmt: skip
TASKS = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "coriolis_matrix",
    "kinetic_energy", "potential_energy", "regressor", "kinematic_equations",
)  # fmt: skip


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", CHAINS)
def test_against_pinocchio(name: str, base: str, tmp_path: Path) -> None:
    path = tmp_path / "chain.urdf"
    path.write_text(urdf(*CHAINS[name]))
    m = read(path, base=base)  # type: ignore[arg-type]
    functions = {task: derive_task(m, task).program for task in TASKS}
    if name != "planar":  # pinocchio's tangent of a planar joint is another one
        functions["inverse_dynamics_derivatives"] = derive_task(m, "inverse_dynamics_derivatives").program
    tip = m.links[-1].name
    frames = {tip: {t: derive_task(m, t, tip).program for t in ("forward_kinematics", "jacobian", "jacobian_rate")}}
    checks = compare_pinocchio(path, m, functions, 5, 10, frames)
    assert len(checks) == len(functions) + 3, checks  # the Coriolis matrix twice, the kinematics not
    checks += verify(m, functions)
    if name == "followers" and base == "fixed":
        extra = compare_mujoco(path, m, functions, 6)
        assert len(extra) == 2, extra
        checks += extra
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]
