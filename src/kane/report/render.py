"""A page as one HTML text: templates, scripts, styles, fonts and data in it, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kane.report.page import Page

SCRIPTS = ("core", "mathml", "plots", "kinematics", "scene", "steps", "explicit", "maps", "motion", "live")


def render(page: Page) -> str:
    """The HTML of a page; names of the user's are text everywhere (escaped, never markup)."""
    environment = Environment(
        loader=PackageLoader("kane.report", "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["mathml"] = _mathml
    data: dict[str, Any] = {s.id: s.data for s in page.sections if getattr(s, "data", None)}  # type: ignore[attr-defined]
    if page.live is not None:
        data["live"] = {
            "token": page.live.token, "robots": list(page.live.robots), "robot": page.live.robot,
            "parameters": [list(p) for p in page.live.parameters],
        }  # fmt: skip
    scripts = _scripts(page)
    return environment.get_template("page.html").render(
        page=page,
        styles=Markup(_styles()),
        scripts=[Markup(text) for text in scripts],
        data=[(name, Markup(embedded(value))) for name, value in data.items()],
        policy=_policy(scripts, page.live is not None),
    )


def embedded(value: Any) -> str:
    """JSON that no HTML parser reads as markup."""
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _plain(value: Any) -> Any:
    """Without numbers that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def _mathml(text: str) -> Markup:
    """MathML of our own printer, which escapes names itself."""
    return Markup(text)


def _read(*path: str) -> str:
    return files("kane.report").joinpath(*path).read_text(encoding="utf-8")


def _styles() -> str:
    font = base64.b64encode(files("kane.report").joinpath("vendor", "stix-two-math.woff2").read_bytes()).decode("ascii")
    face = f'@font-face{{font-family:"Kane Math";src:url(data:font/woff2;base64,{font}) format("woff2")}}\n'
    return face + _read("vendor", "uplot.min.css") + _read("static", "page.css")


def _scripts(page: Page) -> list[str]:
    """Bundles, then ours; each ends with a newline and holds no end tag."""
    texts = [_read("vendor", "three.min.js"), _read("vendor", "uplot.min.js")]
    texts += [_read("static", f"{name}.js") for name in SCRIPTS if name != "live" or page.live is not None]
    return [text.replace("</script", "<\\/script") for text in texts]


def _policy(scripts: list[str], live: bool) -> str:
    """Only these scripts run, and nothing is fetched (a served page asks its own server)."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in scripts)
    connect = "'self'" if live else "'none'"
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; font-src data:; img-src data: blob:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )
