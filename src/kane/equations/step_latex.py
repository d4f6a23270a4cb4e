"""The steps of Kane's method as a LaTeX fragment, in order, each step under its title (amsmath)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kane.equations.step_tables import RATE, Step, Steps, terms_of
from kane.equations.terms import Terms
from kane.errors import NumberError
from kane.kinematics.points import Mixed, Points, position
from kane.mechanism.formula import Formula, formula, parse
from kane.mechanism.latex import escape, formula_latex, formula_pieces, is_sum, name_latex

_SILENT = re.compile(r"\\(?:frac|left|right|bigl|bigr|mathrm|text|d+ot|boldsymbol|mathbf|hat)|[{}\s\\,^_]")
WIDTH = 70  # characters of a line, commands and braces left out
HEADS = {"w": r"\boldsymbol{\omega}", "alpha": r"\boldsymbol{\alpha}", "v": r"\mathbf{v}", "a": r"\mathbf{a}"}
Line = tuple[str, list[str], str]  # left side, pieces of the right side, remark


def steps_latex(steps: Steps) -> str:
    """All steps as a fragment for a document that uses amsmath."""
    writer = _Writer(steps)
    parts = ["% needs \\usepackage{amsmath}; \\allowdisplaybreaks lets long steps run over pages"]
    parts += _align([(writer.one(name), writer.pieces(text), "") for name, text in steps.abbreviations.items()])
    for step in steps:
        parts += [rf"\subsection*{{{step.number}. {_title(step.title)}}}", *writer.body(step)]
    return "\n".join(parts) + "\n"


class _Writer:
    """Formulas of one derivation: names are kept whole, whatever characters they hold."""

    def __init__(self, steps: Steps) -> None:
        self.p: Points = steps.equations.points
        self.t: Terms = terms_of(steps.equations, steps.abbreviations)
        known = {s.name for s in self.p.graph.symbols.values()} | set(self.p.symbols.names_udot)
        known |= {f"{n}_dot" for n in self.p.coordinates.names} | set(self.t.names.values())
        names = sorted((n for n in known if n), key=lambda n: (-len(n), n))
        self.known = re.compile("|".join(rf"(?<![\w.]){re.escape(n)}(?![\w'])" for n in names)) if names else None

    def body(self, step: Step) -> list[str]:
        bodies: dict[int, Callable[[Step], list[str]]] = {
            1: self.bodies, 2: self.speeds, 3: self.vectors, 4: self.partials, 5: self.vectors, 6: self.forces,
            7: self.forces, 8: self.equations, 9: self.activity,
        }  # fmt: skip
        return bodies[step.number](step) or ["None."]

    # formulas

    def read(self, text: str) -> tuple[Formula, Callable[[str], str]] | None:
        """A printed formula as a tree, and how its names are typeset; None for what is no formula."""
        places: dict[str, str] = {}

        def place(found: re.Match[str]) -> str:
            return places.setdefault(found[0], f"n{len(places)}_")

        plain = self.known.sub(place, text) if self.known is not None else text
        back = {v: k for k, v in places.items()}
        try:
            return formula(parse(plain)), lambda n: _name(back.get(n, n))
        except NumberError:
            return None

    def one(self, text: str) -> str:
        read = self.read(text)
        return formula_latex(*read) if read is not None else rf"\text{{{escape(text)}}}"

    def pieces(self, text: str) -> list[str]:
        read = self.read(text)
        return formula_pieces(*read) if read is not None else [rf"\text{{{escape(text)}}}"]

    def vector(self, left: str, value: Mixed) -> list[Line]:
        """A vector in pieces, coefficient and basis vector; then what long coefficients are made of."""
        pieces: list[str] = []
        made: list[Line] = []
        for k, part in value.items():
            for axis, c in zip((0, 1, 2), part, strict=True):
                if c > 1:
                    main, where, rest = self.t.text(c).partition(" where ")
                    if where and made:  # z1, z2, ... of another coefficient go on counting
                        main, rest = (_later(x, len(made), self.t.head) for x in (main, rest))
                    own = self.coefficient(main, _basis(self.p.axes[k].name, axis))
                    negative = own.startswith("-")
                    pieces.append(own if not pieces else f"- {own[1:]}" if negative else f"+ {own}")
                    made += self.definitions(rest)
        return [(left, pieces or ["0"], ""), *made]

    def coefficient(self, text: str, basis: str) -> str:
        if text in ("1", "-1"):
            return f"{text[:-1]}{basis}"
        read = self.read(text)
        if read is None:
            return rf"\text{{{escape(text)}}} \, {basis}"
        own = formula_latex(*read)
        return rf"\left({own}\right) {basis}" if is_sum(read[0]) else rf"{own} \, {basis}"

    def definitions(self, where: str) -> list[Line]:
        """Lines of "z1 = ...; z2 = ..."."""
        pairs = [x.partition(" = ") for x in where.split("; ")] if where else []
        return [(self.one(name), self.pieces(value), "with") for name, _, value in pairs]

    def equation(self, text: str, remark: str = "") -> list[Line]:
        """Lines of "left = right", of a sum "... = 0", or of a formula; then those of what it is made of."""
        main, _, where = text.partition(" where ")
        left, equals, right = main.partition(" = ")
        if not equals:
            lines = [("", self.pieces(main), remark)]
        elif right == "0":
            lines = [("", [*self.pieces(left), "= 0"], remark)]
        else:
            lines = [(self.one(left), self.pieces(right), remark)]
        return [*lines, *self.definitions(where)]

    # steps

    def bodies(self, step: Step) -> list[str]:
        lines = [r"\begin{tabular}{llll}", " & ".join(step.headers) + r" \\ \hline"]
        for row, b in zip(step.rows, self.p.bodies, strict=True):
            ((_, pieces, _), *_) = self.vector("", position(self.p, b.station))
            place = " ".join(pieces)
            inertia = row[3] if row[3] == "particle" else f"${', '.join(self.moment(x) for x in row[3].split(', '))}$"
            lines.append(rf"{escape(row[0])} & ${self.one(row[1])}$ & ${place}$ & {inertia} \\")
        return [*lines, r"\end{tabular}"]

    def moment(self, text: str) -> str:
        name, _, value = text.partition(" = ")
        return rf"I_{{{name[1:]}}} = {self.one(value)}"

    def speeds(self, step: Step) -> list[str]:
        lines: list[Line] = []
        for row in step.rows:
            if RATE in row[-1]:
                continue
            found = self.equation(row[-1], row[0] if len(row) > 1 else "")
            lines += [line for line in found if line[1] != [line[0]]]  # typeset, a rate that is a speed is itself
        plain = len(lines) < len(step.rows)
        said = ["Generalized speeds that are not listed are the rates of the coordinates."] if plain else []
        return [*said, *_align(lines)]

    def vectors(self, step: Step) -> list[str]:
        found = [(n, x) for n, x in step.values.items() if isinstance(x, dict)]
        return _align([line for n, x in found for line in self.vector(_quantity(n), x)])

    def partials(self, step: Step) -> list[str]:
        lines: list[Line] = []
        for r in range(len(self.p.coordinates.speeds)):
            for name, column in step.values.items():
                if isinstance(column, list) and any(c > 1 for part in column[r].values() for c in part):
                    lines += self.vector(_quantity(name, r + 1), column[r])
        return ["Partial velocities that are not listed are zero.", *_align(lines)]

    def forces(self, step: Step) -> list[str]:
        lines: list[Line] = []
        for symbol, source, text in step.rows:
            (_, pieces, _), *rest = self.equation(text)
            lines += [(_force(symbol.strip().removesuffix(" =")), pieces, source.removesuffix(":")), *rest]
        return _align(lines)

    def equations(self, step: Step) -> list[str]:
        lines = [line for row in step.rows for line in self.equation(row[-1], row[0] if len(row) > 1 else "")]
        return _align(lines)

    def activity(self, step: Step) -> list[str]:
        lines: list[Line] = []
        for name, text in step.rows:
            (_, pieces, _), *rest = self.equation("0" if text.startswith("0: ") else text)
            lines += [(rf"\text{{{escape(name)}}}", pieces, ""), *rest]
        return _align(lines)


def _later(text: str, count: int, head: str) -> str:
    """z1, z2, ... (or what head says) with numbers beyond the first `count`."""
    return re.sub(rf"\b{head}(\d+)\b", lambda z: f"{head}{int(z[1]) + count}", text)


def _align(lines: Sequence[Line]) -> list[str]:
    """Equations one below the other; long ones go on in the next line."""
    if not lines:
        return []
    rows = []
    for left, pieces, remark in lines:
        first, *rest = _broken(pieces)
        said = rf" && \text{{{escape(remark)}}}" if remark else ""
        rows.append(f"{left} &= {first}{said}" if left else f"& {first}{said}")
        rows += [rf"&\quad {x}" for x in rest]
    return [r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"]


def _broken(pieces: Sequence[str]) -> list[str]:
    """Pieces joined to lines of about WIDTH."""
    lines: list[str] = []
    used = 0
    for piece in pieces:
        size = len(_SILENT.sub("", piece))
        if lines and used + size <= WIDTH:
            lines[-1] += f" {piece}"
            used += size
        else:
            lines.append(piece)
            used = size
    return lines


def _title(text: str) -> str:
    """A title; quantities in it as formulas."""
    words = {
        "F~_r + F~*_r = 0": r"$\tilde{F}_r + \tilde{F}^{*}_r = 0$",
        "F~_r = F_r + sum of A_sr F_s": r"$\tilde{F}_r = F_r + \sum_s A_{sr} F_s$",
        "F_r + F*_r + sum of lambda_i A_ir = 0": r"$F_r + F^{*}_r + \sum_i \lambda_i A_{ir} = 0$",
        "F_r + F*_r = 0": "$F_r + F^{*}_r = 0$",
    }
    for plain, typeset in words.items():
        text = text.replace(plain, typeset)
    return text


def _name(text: str) -> str:
    """A symbol; u1' and q1_dot with a dot, q1_ddot with two."""
    base = re.fullmatch(r"(.+?)(?:'|_(d{1,2})ot)", text)
    return name_latex(base[1], len(base[2] or "d")) if base else name_latex(text)


def _force(text: str) -> str:
    """F_1, F*_1."""
    head, _, r = text.partition("_")
    return f"F^{{*}}_{{{r}}}" if head == "F*" else f"F_{{{r}}}"


def _quantity(name: str, r: int = 0) -> str:
    """v_P, w_B, alpha_B, a_P; r: of a partial velocity."""
    head, _, tail = name.partition("_")
    below = f"_{{{r}}}" if r else ""
    return rf"{HEADS[head]}^{{{_upper(tail)}}}{below}"


def _upper(text: str) -> str:
    found = re.fullmatch(r"([A-Za-z])(\d*)(\*?)", text)
    return text if found else rf"\text{{{escape(text)}}}"


def _basis(frame: str, axis: int) -> str:
    if re.fullmatch(r"[A-Za-z]{1,2}", frame):
        return rf"\hat{{\mathbf{{{frame.lower()}}}}}_{{{axis + 1}}}"
    return rf"\hat{{\mathbf{{{'xyz'[axis]}}}}}_{{\text{{{escape(frame)}}}}}"
