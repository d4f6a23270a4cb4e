"""Tasks of a frame: pose, Jacobian, its rate, partial velocities."""

from __future__ import annotations

from kane.equations.frames import frame_pose, jacobian_columns, node_poses
from kane.equations.system import System
from kane.equations.tasks.task import Outputs, Task
from kane.graph.arena import Ref
from kane.graph.derivative import forward


def _pose(system: System, frame: str | None) -> Outputs:
    """Homogeneous transform (4, 4): N coordinates of a point from its coordinates in the frame."""
    assert frame is not None
    pose = frame_pose(system.k, frame, node_poses(system.k))[1]
    refs: list[Ref] = []
    for row, p in zip(pose.rows, pose.position, strict=True):
        refs += [*row, p]
    return [("T", (4, 4), [*refs, 0, 0, 0, 2])]


def _rows(system: System, frame: str) -> list[Ref]:
    """J (6, nv) row-major: angular rows first, axes of N."""
    columns = [(*w, *vel) for w, vel in jacobian_columns(system.k, frame)]
    return [column[i] for i in range(6) for column in columns]


def _jacobian(system: System, frame: str | None) -> Outputs:
    assert frame is not None
    return [("J", (6, system.nv), _rows(system, frame))]


def _jacobian_rate(system: System, frame: str | None) -> Outputs:
    assert frame is not None
    s = system.k.symbols
    direction = {s.by_name[name]: rate for name, rate in s.rates.items()} | {system.g.symbol("t"): system.g.one}
    return [("Jdot", (6, system.nv), forward(system.g, _rows(system, frame), direction))]


def _partial(first: int) -> object:
    def build(system: System, frame: str | None) -> Outputs:
        assert frame is not None
        nv = system.nv
        rows = _rows(system, frame)[first * nv : (first + 3) * nv]
        name = "w_r" if first == 0 else "v_r"
        return [(name, (nv, 3), [rows[i * nv + r] for r in range(nv) for i in range(3)])]

    return build


TASKS = (
    Task("forward_kinematics", ("q",), _pose, per_frame=True),
    Task("jacobian", ("q",), _jacobian, per_frame=True),
    Task("jacobian_rate", ("q", "qd"), _jacobian_rate, per_frame=True),
    Task("partial_angular_velocities", ("q",), _partial(0), per_frame=True),  # type: ignore[arg-type]
    Task("partial_velocities", ("q",), _partial(3), per_frame=True),  # type: ignore[arg-type]
)
