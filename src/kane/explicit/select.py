"""Which pieces of a model to keep: the cheapest set whose dropped rest stays within a torque budget.

The budget holds at sampled configurations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kane.explicit.absolute import Absolute, Piece
from kane.explicit.bounds import Box, Motion
from kane.explicit.evaluate import Array, Waves
from kane.explicit.forms import Product
from kane.explicit.model import ExplicitModel
from kane.explicit.program import inverse_dynamics_program
from kane.explicit.ranges import Ranges

SAMPLES = 1500
_HOPELESS = 1.6  # a budget overdrawn more than this is not repaired
_EXCHANGED = 100  # pieces up to which exchanges are tried: each one factors the whole program
Part = tuple[int, Motion, float, Product]


@dataclass(slots=True)
class _Errors:
    """Coefficients of every joint's error at the samples, and their bound.

    The bound: the sum of absolute values times the motions' sizes.
    """

    box: Box
    waves: Waves
    products: dict[Product, Array]
    coefficients: dict[tuple[int, Motion], Array]
    totals: list[Array]

    def size(self, motion: Motion) -> float:
        if len(motion) == 1:
            return float(self.box.acceleration[motion[0]])
        return float(np.prod([self.box.speed[j] for j in motion]))

    def with_parts(
        self, parts: Sequence[Part], sign: float
    ) -> tuple[dict[int, Array], dict[tuple[int, Motion], Array]]:
        """Totals and coefficients that change when a piece is dropped (sign 1) or taken back (-1)."""
        totals: dict[int, Array] = {}
        changed: dict[tuple[int, Motion], Array] = {}
        for i, motion, w, factors in parts:
            values = self.products.get(factors)
            if values is None:
                values = self.products[factors] = self.waves.product(factors)
            old = changed.get((i, motion), self.coefficients.get((i, motion), np.zeros(SAMPLES)))
            new = old + sign * w * values
            base = totals.get(i, self.totals[i])
            totals[i] = base + (np.abs(new) - np.abs(old)) * self.size(motion)
            changed[i, motion] = new
        return totals, changed

    def accept(self, totals: dict[int, Array], changed: dict[tuple[int, Motion], Array]) -> None:
        self.coefficients.update(changed)
        for i, total in totals.items():
            self.totals[i] = total


def select(
    model: ExplicitModel,
    form: Absolute,
    units: Sequence[Sequence[Piece]],
    parts: Sequence[Sequence[Part]],
    ranges: Ranges,
    budget: Array,
    search: tuple[int, float],
) -> frozenset[int]:
    """Indices of the units (pieces kept or dropped together) to keep.

    Greedy by error over operations^exponent, then rounds of exchanges by the operations of the whole program; `search`:
    (rounds, exponent).
    """
    rounds, exponent = search
    q = np.random.default_rng(7).uniform(ranges.lower, ranges.upper, size=(SAMPLES, model.n))
    errors = _Errors(ranges.box, Waves(q), {}, {}, [np.zeros(SAMPLES) for _ in range(model.n)])
    kept = set(range(len(units)))
    shares = [_share(errors, parts[k], budget) for k in kept]
    work = [sum(len(p.term.factors) + len(p.motion) + 1 for p in unit) for unit in units]
    for k in sorted(kept, key=lambda k: (shares[k] / max(1, work[k]) ** exponent, k)):
        totals, changed = errors.with_parts(parts[k], 1.0)
        if all(float(total.max()) <= budget[i] for i, total in totals.items()):
            errors.accept(totals, changed)
            kept.discard(k)
    for _ in range(rounds if len(kept) <= _EXCHANGED else 0):
        before = set(kept)
        _exchange(model, form, units, parts, errors, budget, kept)
        if kept == before:
            break
    return frozenset(kept)


def _share(errors: _Errors, parts: Sequence[Part], budget: Array) -> float:
    """The greatest share of a budget that a unit takes alone."""
    totals, _ = errors.with_parts(parts, 1.0)
    return max((float(np.max(t - errors.totals[i])) / budget[i] for i, t in totals.items()), default=0.0)


def _exchange(
    model: ExplicitModel,
    form: Absolute,
    units: Sequence[Sequence[Piece]],
    parts: Sequence[Sequence[Part]],
    errors: _Errors,
    budget: Array,
    kept: set[int],
) -> None:
    """Drop a unit that saves many operations for cheap ones taken back, as long as the program gets shorter."""
    current = operations(model, form, units, kept)
    for k in sorted(kept):
        trial = set(kept)
        coefficients, totals_before = dict(errors.coefficients), list(errors.totals)
        errors.accept(*errors.with_parts(parts[k], 1.0))
        kept.discard(k)
        count = operations(model, form, units, kept) if _repair(parts, errors, budget, kept, k) else current
        if count < current:
            current = count
        else:
            kept.clear()
            kept |= trial
            errors.coefficients, errors.totals = coefficients, totals_before


def _repair(parts: Sequence[Sequence[Part]], errors: _Errors, budget: Array, kept: set[int], banned: int) -> bool:
    """Take back up to three dropped units until the budget holds; False when that does not do."""
    for _ in range(3):
        over = {i: float(errors.totals[i].max()) / budget[i] for i in range(len(budget))}
        if max(over.values()) <= 1:
            return True
        if max(over.values()) > _HOPELESS:
            return False
        row = max(over, key=lambda i: over[i])
        at = int(np.argmax(errors.totals[row]))
        best, gain = -1, 0.0
        for k in range(len(parts)):
            if k in kept or k == banned or all(part[0] != row for part in parts[k]):
                continue
            totals, _ = errors.with_parts(parts[k], -1.0)
            relief = float(errors.totals[row][at] - totals[row][at])
            if relief > gain:
                best, gain = k, relief
        if best < 0:
            return False
        errors.accept(*errors.with_parts(parts[best], -1.0))
        kept.add(best)
    return all(float(t.max()) <= float(b) for t, b in zip(errors.totals, budget, strict=True))


def kept_form(form: Absolute, units: Sequence[Sequence[Piece]], kept: Collection[int]) -> Absolute:
    """The pieces of the units that are kept."""
    return replace(form, pieces=tuple(p for k, unit in enumerate(units) if k in kept for p in unit))


def operations(model: ExplicitModel, form: Absolute, units: Sequence[Sequence[Piece]], kept: Collection[int]) -> int:
    """Operations of inverse dynamics with the units that are kept."""
    return inverse_dynamics_program(model, kept_form(form, units, kept)).counts.total
