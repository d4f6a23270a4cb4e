"""Other base parameters, other origins and other forms of the inertia forces leave the torques what they are."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.equations.derive import derive_task, find_task
from kane.equations.system import derive_system
from kane.equations.tasks import task_program
from kane.graph.evaluate import equal
from kane.graph.program import Program
from kane.kinematics.motion import Shift
from kane.kinematics.vectors import INDEX
from kane.mechanism.model import Mechanism
from kane.robots.bundled import load as bundled
from kane.search.formulation import Formulation, candidates, descend, formulated, operations, wander
from kane.search.placement import shift_size, slide_origins, slides
from kane.search.recursion import FORMS, axial_shift
from kane.search.regroup import Split, regroup_with, second_moment
from kane.search.spin import may_spin
from kane.search.tasks import BUILDS

sys.path.insert(0, str(Path(__file__).parent))
from record_models import general, stanford

SPLITS = list(candidates())
ARM = general(3)
PLAIN = {
    (arm.name, task): derive_task(arm, task, parameters="symbolic").program
    for arm in (ARM, stanford()) for task in ("inverse_dynamics", "mass_matrix")
}  # fmt: skip


def built(mechanism: Mechanism, task: str, formulation: Formulation, parameters: str = "symbolic") -> Program | None:
    system = formulated(derive_system(mechanism, parameters), formulation)  # type: ignore[arg-type]
    if system is None:
        return None
    return task_program(find_task(task), system, BUILDS[task](system, formulation, False))


nodes = st.integers(0, 2)
formulations = st.builds(
    Formulation,
    st.lists(st.tuples(nodes, st.integers(0, 1)), max_size=2).map(tuple),
    st.dictionaries(nodes, st.sampled_from(SPLITS), max_size=2).map(lambda d: tuple((n, d[n]) for n in sorted(d))),
    st.dictionaries(nodes, st.sampled_from(FORMS)).map(lambda d: tuple(sorted(d.items()))),
    st.sets(nodes).map(lambda s: tuple(sorted(s))),
    st.sets(nodes).map(lambda s: tuple(sorted(s))),
)


@given(formulations, st.sampled_from(("inverse_dynamics", "mass_matrix")))
def test_every_formulation_gives_the_same_task(formulation: Formulation, task: str) -> None:
    program = built(ARM, task, formulation)
    assert program is None or equal(program, PLAIN[ARM.name, task])


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_an_arm_with_a_slide(form: str) -> None:
    formulation = Formulation(forms=tuple((node, form) for node in range(6)))  # type: ignore[misc]
    program = built(stanford(), "inverse_dynamics", formulation)
    assert program is not None and equal(program, PLAIN["stanford", "inverse_dynamics"])


@pytest.mark.parametrize(("keep", "clear"), [("m", "ha"), ("h", "hb"), ("J", "Jbk"), ("J", "Jd"), ("m", "Jak")])
def test_what_is_kept_on_the_child_clears_the_parent(keep: str, clear: str) -> None:
    system = derive_system(ARM, "symbolic")
    g, k = system.g, system.k
    bodies = regroup_with(k, system.plain, {2: Split((keep,), (clear,), "none")})
    assert bodies is not None
    parent, child = bodies[1], bodies[2]
    cleared = {
        "ha": parent.first[0], "hb": parent.first[1], "Jak": second_moment(g, parent, 0, 2),
        "Jbk": second_moment(g, parent, 1, 2),
        "Jd": g.sub(second_moment(g, parent, 0, 0), second_moment(g, parent, 1, 1)),
    }  # fmt: skip
    kept = {"m": child.mass, "h": child.first[2], "J": second_moment(g, child, 2, 2)}
    assert cleared[clear] < 2
    assert kept[keep] > 1
    assert all(value < 2 for name, value in kept.items() if name != keep)


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara"])
def test_inertia_about_an_axis_without_gyroscopic_moment(name: str) -> None:
    """Where may_spin allows it, the torques do not change."""
    arm = bundled(name)
    system = derive_system(arm)
    allowed = tuple(n for n in range(len(system.k.motions)) if may_spin(system.k, n))
    assert allowed
    plain = derive_task(arm, "inverse_dynamics").program
    for node in allowed:
        for balance in ("a", "b"):
            formulation = Formulation(splits=((node, Split(balance=balance)),), spins=(node,))
            spun_program = built(arm, "inverse_dynamics", formulation, "numeric")
            assert spun_program is not None and equal(spun_program, plain)


def test_axes_in_three_directions_feel_the_gyroscopic_moment() -> None:
    system = derive_system(bundled("puma560"))
    assert [may_spin(system.k, n) for n in range(6)] == [False, True, True, False, False, False]


@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_levers_and_axial_parts(name: str) -> None:
    arm = bundled(name)
    system = derive_system(arm)
    plain = derive_task(arm, "inverse_dynamics").program
    levers = tuple(n for n in range(6) if axial_shift(system.k, n))
    assert levers
    for stay in (("h",), ("m", "h")):
        splits = tuple((n, Split(balance="ak", stay=stay)) for n in range(1, 6))
        program = built(arm, "inverse_dynamics", Formulation(splits=splits, levers=levers), "numeric")
        assert program is not None and equal(program, plain)


def test_the_slide_of_the_stanford_arm_is_a_lever_of_the_wrist() -> None:
    system = derive_system(stanford(), "symbolic")
    found = axial_shift(system.k, 3)
    assert found is not None and found.past_slide and found.fixed == ()
    assert axial_shift(system.k, 4) is None


def test_all_of_a_mass_moves_to_the_child() -> None:
    system = derive_system(stanford(), "symbolic")
    bodies = regroup_with(system.k, system.plain, {3: Split(("m",), ("m",))})
    assert bodies is not None and bodies[2].mass < 2 and bodies[3].mass > 1


@pytest.mark.parametrize(("balance", "entries"), [("ak", (0, 2)), ("bk", (1, 2)), ("a", (0,)), ("b", (1,))])
def test_what_balances_mean(balance: str, entries: tuple[int, ...]) -> None:
    """I_aa = I_kk, I_bb = I_kk, I_aa = 0, I_bb = 0 on the child, a, b, k right-handed."""
    bodies = regroup_with((system := derive_system(ARM, "symbolic")).k, system.plain, {2: Split(balance=balance)})
    assert bodies is not None
    values = [bodies[2].tensor[INDEX[i][i]] for i in entries]  # axis 2: a = x, b = y, k = z
    assert len(set(values)) == 1 and (len(values) == 2 or values[0] < 2)


def test_a_split_without_solution_is_none() -> None:
    """Mass in the wrist centre of three axes through one point does not reach the first moment of the link before."""
    system = derive_system(stanford(), "symbolic")
    assert regroup_with(system.k, system.plain, {5: Split(("m",), ("ha",))}) is None
    assert regroup_with(system.k, system.plain, {0: Split(("m",), ("ha",))}) is None  # nothing before the first


def test_slid_origins_merge_shifts() -> None:
    """The offsets of the PUMA's parallel second and third axis become one."""
    system = derive_system(bundled("puma560"))
    before = shift_size(system.k)
    slid = slide_origins(system, {1: slides(system.k, 1)[0]})
    assert shift_size(slid.k) < before
    (step,) = (s for s in slid.k.motions[2].fixed if isinstance(s, Shift))
    assert float(system.g.value_of(step.by[2]) or 0) == pytest.approx(0.2435 - 0.0934)


def test_descent_and_wandering_never_lose() -> None:
    system = derive_system(stanford(), "symbolic")

    def price(formulation: Formulation) -> float:
        trial = formulated(system, formulation)
        if trial is None:
            return float("inf")
        outputs = BUILDS["inverse_dynamics"](trial, formulation, False)
        return operations(trial.g, [r for _, _, refs in outputs for r in refs])

    found = descend(system, price, 1)
    wandered = wander(system, price, found, 40, seed=1)[0]
    assert price(wandered) <= price(found) < price(Formulation())
    assert wandered == wander(system, price, found, 40, seed=1)[0]
    assert price(replace(found, splits=((3, Split(("m",), ("ha",))),))) == float("inf")
