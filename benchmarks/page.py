"""A page with plots, without any library: logarithmic axes, one polyline a series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

Points = Sequence[tuple[float, float]]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 340, 62, 44, 16, 130
LINE = 13
COLOURS = ("#0b62a4", "#c4442e", "#2c8a4b", "#7a5aa6", "#946a1e")


def plot(series: Mapping[str, Points], x_label: str, y_label: str) -> str:
    """An SVG element."""
    xs = [log10(x) for points in series.values() for x, _ in points]
    ys = [log10(y) for points in series.values() for _, y in points if y > 0]
    x0, x1, y0, y1 = min(xs), max(xs), floor(min(ys)), ceil(max(ys))

    def at(x: float, y: float) -> tuple[float, float]:
        across = (log10(x) - x0) / ((x1 - x0) or 1)
        up = (log10(y) - y0) / ((y1 - y0) or 1)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(y_label)} by {escape(x_label)}">']
    for k in range(y0, y1 + 1):
        _, y = at(10**x0, 10**k)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**k:g}</text>')
    for x_value in sorted({x for points in series.values() for x, _ in points}):
        x, y = at(x_value, 10**y0)
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{x_value:g}</text>')
    ends = []
    for colour, (name, points) in zip(COLOURS, series.items(), strict=False):
        places = [at(*p) for p in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
        ends.append((places[-1][1], colour, name))
    below = 0.0
    for y, colour, name in sorted(ends):  # names at the right, a line apart from each other
        below = max(y + 4, below + LINE)
        parts.append(f'<text x="{WIDTH - RIGHT + 8}" y="{below:.1f}" fill="{colour}">{escape(name)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>')
    parts.append(f'<text x="14" y="{HEIGHT / 2}" transform="rotate(-90 14 {HEIGHT / 2})" text-anchor="middle">'
                 f"{escape(y_label)}</text></svg>")  # fmt: skip
    return "".join(parts)


def bars(values: Sequence[tuple[str, float]]) -> str:
    """An SVG element: a bar for each named value, on a logarithmic scale from 1 on; below 1 there is no bar."""
    wide, name, step = 2 * WIDTH, 430, 18
    height = step * len(values) + 30
    scale = (wide - name - 60) / log10(max(10.0, *(v for _, v in values)))
    parts = [f'<svg viewBox="0 0 {wide} {height}" role="img" aria-label="times as fast as the peer">']
    for k in range(ceil(log10(max(10.0, *(v for _, v in values)))) + 1):
        x = name + k * scale
        if x < wide - 40:
            parts.append(f'<path d="M{x:.1f} 0V{height - 20}" class="grid"/>')
            parts.append(f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{10**k}</text>')
    for k, (what, value) in enumerate(values):
        y, long = k * step + 3, max(0.0, log10(value) * scale)
        parts.append(f'<text x="{name - 8}" y="{y + 10}" text-anchor="end">{escape(what)}</text>')
        parts.append(f'<rect x="{name}" y="{y}" width="{long:.1f}" height="{step - 5}" fill="{COLOURS[0]}"/>')
        parts.append(f'<text x="{name + long + 6:.1f}" y="{y + 10}">{value:.3g}</text>')
    return "".join([*parts, "</svg>"])


def page(title: str, notes: Sequence[str], plots: Mapping[str, str], table: Sequence[Sequence[str]]) -> str:
    """An HTML page; the first row of the table is its head."""
    head, *rows = table
    cells = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    figures = "".join(
        f"<figure{' class=wide' * ('<rect' in svg)}>{svg}<figcaption>{escape(what)}</figcaption></figure>"
        for what, svg in plots.items()
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>'
        "body{font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2em auto;padding:0 1em}"
        "svg{width:100%;font-size:11px}figure{display:inline-flex;flex-direction:column;width:48%;min-width:340px;"
        "margin:0 1% 1em 0}"
        ".wide{width:98%}.grid{stroke:#ddd}table{border-collapse:collapse}td,th{padding:.15em .8em;text-align:right}"
        "ul{padding-left:1.2em;columns:2;margin:1em 0}figure figcaption{order:-1;font-weight:600}"
        "td:first-child,th:first-child{text-align:left}tr{border-bottom:1px solid #ddd}</style>"
        f"<h1>{escape(title)}</h1>" + "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>" + figures
        + "<table><tr>" + "".join(f"<th>{escape(c)}</th>" for c in head) + f"</tr>{cells}</table></html>\n"
    )  # fmt: skip
