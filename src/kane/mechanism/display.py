"""How a user's name is typeset: base letter, dots, subscripts, superscripts, Greek.

q2 is q with subscript 2, qd_elbow is q with a dot and subscript elbow, x_{1}^a has both scripts, theta is the letter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi "
        "chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(),
        "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
        strict=True,
    )
)
LETTER = {letter: name for name, letter in GREEK.items()}
_DOTTED = {"qd": ("q", 1), "qdd": ("q", 2), "qdot": ("q", 1), "qddot": ("q", 2), "udot": ("u", 1), "ud": ("u", 1)}


@dataclass(frozen=True, slots=True)
class Display:
    """Parts of a typeset name; Greek letters are characters."""

    base: str
    dots: int
    below: str
    above: str


def display(user: str) -> Display:
    """The parts of a user's name.  A name that holds other than letters, digits and scripts is kept in one piece."""
    text = re.sub(r"\\([A-Za-z]+)", r"\1", user.strip().strip("$"))
    found = re.fullmatch(r"([^\W\d_]+)(\d*)((?:[_^](?:\{[^{}]*\}|[^_^{}]+))*)", text)
    if not found:
        return Display(user, 0, "", "")
    scripts = re.findall(r"([_^])(\{[^{}]*\}|[^_^{}]+)", found[3])
    base, dots = _DOTTED.get(found[1], (found[1], 0))
    below = [found[2]] * bool(found[2]) + [_script(s) for mark, s in scripts if mark == "_"]
    above = [_script(s) for mark, s in scripts if mark == "^"]
    return Display(GREEK.get(base, base), dots, ",".join(below), ",".join(above))


def _script(text: str) -> str:
    inner = text.strip("{}")
    return GREEK.get(inner, inner)
