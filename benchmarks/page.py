"""A page with plots, without any library: logarithmic axes, one polyline a series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

Points = Sequence[tuple[float, float]]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 340, 62, 44, 16, 130
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
    for colour, (name, points) in zip(COLOURS, series.items(), strict=False):
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*p) for p in points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = at(*points[-1])
        parts.append(f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>')
    parts.append(f'<text x="14" y="{HEIGHT / 2}" transform="rotate(-90 14 {HEIGHT / 2})" text-anchor="middle">'
                 f"{escape(y_label)}</text></svg>")  # fmt: skip
    return "".join(parts)


def page(title: str, notes: Sequence[str], plots: Mapping[str, str], table: Sequence[Sequence[str]]) -> str:
    """An HTML page; the first row of the table is its head."""
    head, *rows = table
    cells = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    figures = "".join(f"<figure>{svg}<figcaption>{escape(what)}</figcaption></figure>" for what, svg in plots.items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>'
        "body{font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2em auto;padding:0 1em}"
        "svg{width:100%;font-size:11px}figure{display:inline-block;width:48%;min-width:340px;margin:0 1% 1em 0}"
        ".grid{stroke:#ddd}table{border-collapse:collapse}td,th{padding:.15em .8em;text-align:right}"
        "td:first-child,th:first-child{text-align:left}tr{border-bottom:1px solid #ddd}</style>"
        f"<h1>{escape(title)}</h1>" + "".join(f"<p>{escape(note)}</p>" for note in notes) + figures
        + "<table><tr>" + "".join(f"<th>{escape(c)}</th>" for c in head) + f"</tr>{cells}</table></html>\n"
    )  # fmt: skip
