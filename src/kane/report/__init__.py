"""The report: one self-contained HTML page of a mechanism, its equations, numbers, code and a 3-D view.

`build_report(mechanism)` gives a Page of frozen sections, `render(page)` its HTML.  A section is a dataclass in
sections/, a template in templates/, and where it moves a script in static/; vendor/ has the bundles it needs.
"""

from __future__ import annotations

from kane.report.build import Given, Options, build_report
from kane.report.page import Live, Page
from kane.report.render import Renderer, render
from kane.report.sections.motion import recording
from kane.report.serve import Server, Service, serve

__all__ = [
    "Given", "Live", "Options", "Page", "Renderer", "Server", "Service", "build_report", "recording", "render", "serve",
]  # fmt: skip
