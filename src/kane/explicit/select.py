"""Which pieces of a model to keep:
the cheapest set whose dropped rest stays within a torque budget at sampled configurations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kane.explicit.absolute import Absolute
from kane.explicit.bounds import Box, Motion
from kane.explicit.evaluate import Array, Waves
from kane.explicit.forms import Product
from kane.explicit.model import ExplicitModel
from kane.explicit.program import inverse_dynamics_program
from kane.explicit.ranges import Ranges

SAMPLES = 1500
_EXCHANGED = 100  # pieces up to which exchanges are tried: each one factors the whole program
Part = tuple[int, Motion, float, Product]


@dataclass(slots=True)
class _Errors:
    """Coefficients of every joint's error at the samples, and their bound:
    the sum of absolute values times the motions' sizes.
    """

    box: Box
    coefficients: dict[tuple[int, Motion], Array]
    totals: list[Array]

    def size(self, motion: Motion) -> float:
        if len(motion) == 1:
            return float(self.box.acceleration[motion[0]])
        return float(np.prod([self.box.speed[j] for j in motion]))

    def with_parts(
        self, parts: Sequence[Part], products: Array, sign: float
    ) -> tuple[dict[int, Array], dict[tuple[int, Motion], Array]]:
        """Totals and coefficients that change when a piece is dropped (sign 1) or taken back (-1)."""
        totals: dict[int, Array] = {}
        changed: dict[tuple[int, Motion], Array] = {}
        for i, motion, w, _ in parts:
            old = changed.get((i, motion), self.coefficients.get((i, motion), np.zeros(len(products))))
            new = old + sign * w * products
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
    parts: Sequence[Sequence[Part]],
    ranges: Ranges,
    budget: Array,
    rounds: int = 1,
    exponent: float = 1.0,
) -> frozenset[int]:
    """Indices of the pieces to keep: greedy by error over operations^exponent,
    then exchanges by the operations of the whole program.
    """
    rng = np.random.default_rng(7)
    q = rng.uniform(ranges.lower, ranges.upper, size=(SAMPLES, model.n))
    waves = Waves(q)
    products = [waves.product(piece.term.factors) for piece in form.pieces]
    errors = _Errors(ranges.box, {}, [np.zeros(SAMPLES) for _ in range(model.n)])
    kept = set(range(len(form.pieces)))
    shares = [_share(errors, parts[k], products[k], budget) for k in kept]
    work = [len(p.term.factors) + len(p.motion) + 1 for p in form.pieces]
    for k in sorted(kept, key=lambda k: (shares[k] / work[k] ** exponent, k)):
        _drop(errors, parts[k], products[k], budget, kept, k)
    for _ in range(rounds if len(kept) <= _EXCHANGED else 0):
        before = set(kept)
        _exchange(model, form, parts, products, errors, budget, kept)
        if kept == before:
            break
    return frozenset(kept)


def _share(errors: _Errors, parts: Sequence[Part], products: Array, budget: Array) -> float:
    """The greatest share of a budget that the piece takes alone."""
    totals, _ = errors.with_parts(parts, products, 1.0)
    return max((float(np.max(t - errors.totals[i])) / budget[i] for i, t in totals.items()), default=0.0)


def _drop(errors: _Errors, parts: Sequence[Part], products: Array, budget: Array, kept: set[int], k: int) -> bool:
    totals, changed = errors.with_parts(parts, products, 1.0)
    if any(float(total.max()) > budget[i] for i, total in totals.items()):
        return False
    errors.accept(totals, changed)
    kept.discard(k)
    return True


def _exchange(
    model: ExplicitModel,
    form: Absolute,
    parts: Sequence[Sequence[Part]],
    products: Sequence[Array],
    errors: _Errors,
    budget: Array,
    kept: set[int],
) -> None:
    """Drop a piece that saves many operations in exchange for cheap ones taken back,
    as long as the program gets shorter.
    """
    current = operations(model, form, kept)
    for k in sorted(kept):
        trial = set(kept)
        saved = _Errors(errors.box, dict(errors.coefficients), list(errors.totals))
        totals, changed = errors.with_parts(parts[k], products[k], 1.0)
        errors.accept(totals, changed)
        kept.discard(k)
        if not _repair(parts, products, errors, budget, kept, set(parts_rows(parts[k])), k):
            kept.clear()
            kept |= trial
            errors.coefficients, errors.totals = saved.coefficients, saved.totals
            continue
        count = operations(model, form, kept)
        if count < current:
            current = count
        else:
            kept.clear()
            kept |= trial
            errors.coefficients, errors.totals = saved.coefficients, saved.totals


def parts_rows(parts: Sequence[Part]) -> list[int]:
    return sorted({i for i, _, _, _ in parts})


def _repair(
    parts: Sequence[Sequence[Part]],
    products: Sequence[Array],
    errors: _Errors,
    budget: Array,
    kept: set[int],
    rows: set[int],
    banned: int,
) -> bool:
    """Take back up to three dropped pieces until the budget holds; False when that does not do."""
    for _ in range(3):
        over = {i: float(errors.totals[i].max()) / budget[i] for i in range(len(budget))}
        if max(over.values()) <= 1:
            return True
        if max(over.values()) > 1.6:
            return False
        row = max(over, key=lambda i: over[i])
        at = int(np.argmax(errors.totals[row]))
        best, gain = -1, 0.0
        for k in range(len(parts)):
            if k in kept or k == banned or row not in parts_rows(parts[k]):
                continue
            totals, _ = errors.with_parts(parts[k], products[k], -1.0)
            relief = float(errors.totals[row][at] - totals[row][at])
            if relief > gain:
                best, gain = k, relief
        if best < 0:
            return False
        totals, changed = errors.with_parts(parts[best], products[best], -1.0)
        errors.accept(totals, changed)
        kept.add(best)
    return all(float(t.max()) <= float(b) for t, b in zip(errors.totals, budget, strict=True))


def operations(model: ExplicitModel, form: Absolute, kept: Collection[int]) -> int:
    short = replace(form, pieces=tuple(p for k, p in enumerate(form.pieces) if k in kept))
    return inverse_dynamics_program(model, short).counts.total
