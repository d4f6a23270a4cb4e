"""A motion as an SVG drawing: positions, speeds and accelerations of all joints over one period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

TITLES = ("position, rad or m", "speed, rad/s or m/s", "acceleration, rad/s² or m/s²")
LEFT, TOP, BOTTOM, LINE, LETTER = 70, 28, 40, 16, 7  # px beside, above and below the panels; of the legend


def drawing(joints: Sequence[str], t: Any, panels: Sequence[Any], width: int, height: int) -> str:
    """Panels (len(t), n) one above the other, each `height` px; ends, zero, times and joints are named."""
    right = width - max(120, 24 + LETTER * max(map(len, joints), default=0))
    bottom = len(panels) * height
    whole = max(bottom + BOTTOM, TOP + LINE * len(joints))
    x = LEFT + t / t[-1] * (right - LEFT)
    parts = [f'<rect width="{width}" height="{whole}" fill="white"/>']
    colors = [f"hsl({360 * j // len(joints)} 70% 40%)" for j in range(len(joints))]
    for row, (title, values) in enumerate(zip(TITLES, panels, strict=True)):
        top = row * height + TOP
        low, high = float(values.min()), float(values.max())
        scale = (height - TOP - 12) / max(high - low, 1e-12)
        parts.append(f'<text x="{LEFT}" y="{top - 10}">{title}</text>')
        for value in _labelled(low, high):
            y = top + (high - value) * scale
            parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>')
        for color, column in zip(colors, values.T, strict=True):
            points = " ".join(f"{a:.1f},{top + (high - b) * scale:.1f}" for a, b in zip(x, column, strict=True))
            parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="1.3" points="{points}"/>')
    for k in range(6):
        place = LEFT + k / 5 * (right - LEFT)
        parts.append(f'<text x="{place:.1f}" y="{bottom + 12}" text-anchor="middle">{k * t[-1] / 5:.4g}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{bottom + 30}" text-anchor="middle">t, s</text>')
    for j, (name, color) in enumerate(zip(joints, colors, strict=True)):
        parts.append(f'<text x="{right + 12}" y="{TOP + 4 + LINE * j}" fill="{color}">{escape(name)}</text>')
    size = f'width="{width}" height="{whole}" viewBox="0 0 {width} {whole}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    return "\n".join([head, *parts, "</svg>", ""])


def _labelled(low: float, high: float) -> list[float]:
    """The ends, and zero where it does not come too near to them."""
    room = 0.12 * (high - low)
    return list(dict.fromkeys([low, *([0.0] if low + room < 0 < high - room else []), high]))
