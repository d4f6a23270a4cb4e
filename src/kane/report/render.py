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

from kane.report.page import Page, Section

SCRIPTS = ("core", "mathml", "plots", "kinematics", "scene", "steps", "equations", "explicit", "maps", "motion", "live")


class Renderer:
    """Writes pages; one is enough for many pages, as templates are read once.

    Names of the user's are text everywhere (escaped, never markup).
    """

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("kane.report", "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._environment.filters["mathml"] = _mathml

    def page(self, page: Page) -> str:
        """The HTML of a page."""
        data = {s.id: found for s in page.sections if (found := _data(s))}
        if page.live is not None:
            data["live"] = {
                "robots": list(page.live.robots), "robot": page.live.robot, "first": list(page.live.first),
                "later": list(page.live.later), "parameters": [list(p) for p in page.live.parameters],
            }  # fmt: skip
        scripts = _scripts(page)
        return self._environment.get_template("page.html").render(
            page=page,
            styles=Markup(_styles()),
            scripts=[Markup(text) for text in scripts],
            data=[(name, Markup(embedded(value))) for name, value in data.items()],
            policy=_policy(scripts, page.live is not None),
        )

    def parts(self, page: Page) -> list[dict[str, Any]]:
        """The sections alone, for a page that is shown already: id, title, HTML, data for the scripts."""
        made = []
        for section in page.sections:
            text = self._environment.get_template(section.template).render(page=page, section=section)
            made.append({"id": section.id, "title": section.title, "html": text, "data": plain(_data(section)) or None})
        return made


def render(page: Page) -> str:
    """The HTML of a page."""
    return Renderer().page(page)


def _data(section: Section) -> Any:
    return getattr(section, "data", None)


def embedded(value: Any) -> str:
    """JSON that no HTML parser reads as markup."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def plain(value: Any) -> Any:
    """A value without numbers that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


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
