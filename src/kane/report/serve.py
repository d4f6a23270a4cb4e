"""The report served live to this machine only: pick another robot, change a parameter, see equations and counts change.

The server listens on 127.0.0.1, answers only GET, only under a random token in the path, and only for requests that
name this host and come from no other page (so that no web page elsewhere can ask it).  It writes nothing.  A page asks
for its quick parts first and for the slow ones after that, one at a time; a change stops what is not begun.
"""

from __future__ import annotations

import html
import json
import secrets
import select
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from kane.errors import InputError, KaneError, NumberError, UnknownNameError
from kane.mechanism import formula as f
from kane.mechanism.edit import with_parameters
from kane.mechanism.model import Mechanism
from kane.report.build import TITLES, Given, Options, build_report
from kane.report.page import Live, Page
from kane.report.render import Renderer
from kane.report.sections.left_out import LeftOut

HOST = "127.0.0.1"
SECONDS = 10.0  # that a client may take for its request
MOST_FIELDS, LONGEST = 200, 60
FIRST = ("counts", "explicit")
LATER = (
    "equations", "robot,scene", "steps", "motion", "maps", "poles", "base", "code", "explicit,counts", "verification",
)  # fmt: skip
PARTS = frozenset(name for group in (*FIRST, *LATER) for name in group.split(","))
QUICK = Options(tolerances=(), count_explicit=False, waiting=PARTS - {"robot", "scene", "equations", *FIRST})

Load = Callable[[str], Mechanism]
More = Callable[[Mechanism, str], Given]
Progress = Callable[[str], None]


def _nothing(mechanism: Mechanism, part: str) -> Given:
    return Given()


@dataclass(frozen=True, slots=True)
class Service:
    """What is served: the robots that may be picked and how they are loaded; first is shown first.

    given: results that the report does not work out itself, for "counts" and "verification".
    """

    first: str
    robots: tuple[str, ...]
    load: Load
    options: Options = QUICK
    given: More = _nothing
    renderer: Renderer = field(default_factory=Renderer)

    def page(self, query: str) -> str:
        """The page that a query string asks for: robot=NAME and p.NAME=VALUE for changed parameters.

        Raises InputError for what it does not understand.
        """
        robot, mechanism, _ = self._asked(query)
        robots = tuple(dict.fromkeys((self.first, *self.robots)))
        live = Live(robots, tuple(changeable(mechanism).items()), robot, FIRST, LATER)
        return self.renderer.page(build_report(mechanism, self.options, live=live))

    def parts(self, query: str, progress: Progress = lambda text: None) -> dict[str, Any]:
        """Parts of the page as JSON: as `page`, and of=ID,ID for the parts, more=1 for all that is in them, levels=1.

        Raises InputError for what it does not understand.
        """
        robot, mechanism, fields = self._asked(query)
        wanted = frozenset(fields.get("of", "").split(","))
        if not wanted <= PARTS:
            names = ", ".join(sorted(wanted - PARTS))
            raise UnknownNameError(f"There is no part {names!r}.", name=names, remedy=", ".join(sorted(PARTS)))
        more, levels = ("more" in fields), ("levels" in fields)
        options = replace(
            self.options, only=wanted, waiting=frozenset(), count_explicit=more,
            tolerances=Options().tolerances if levels else (),
        )  # fmt: skip
        given = Given()
        for part in sorted(wanted & {"counts", "verification"}) if more else ():
            progress(part)
            given = _both(given, self.given(mechanism, part))
        live = Live((), (), robot)
        page = build_report(mechanism, options, given, live, progress)
        return {
            "name": page.name, "title": f"{page.name} – equations of motion", "lead": page.lead,
            "parameters": list(changeable(mechanism).items()), "parts": self._rendered(page, wanted),
        }  # fmt: skip

    def _rendered(self, page: Page, wanted: frozenset[str]) -> list[dict[str, Any]]:
        """The parts; of one that there is not, that there is none."""
        absent = sorted(wanted - {section.id for section in page.sections})
        left = tuple(LeftOut(name, TITLES[name], "There is none of it here.") for name in absent)
        return self.renderer.parts(replace(page, sections=(*page.sections, *left)))

    def _asked(self, query: str) -> tuple[str, Mechanism, dict[str, str]]:
        try:
            fields = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=MOST_FIELDS)
        except ValueError as error:
            text = f"The query cannot be read: {error}."
            raise InputError(text, remedy="Start from the page's own address.") from None
        robot = dict(fields).get("robot", self.first)
        if robot not in (self.first, *self.robots):
            raise UnknownNameError(f"There is no robot {robot!r} here.", name=robot, remedy=", ".join(self.robots))
        mechanism = self.load(robot)
        changes = {k[2:]: _number(k[2:], v) for k, v in fields if k.startswith("p.")}
        return robot, with_values(mechanism, changes), dict(fields)


def _both(a: Given, b: Given) -> Given:
    return replace(a, checks=(*a.checks, *b.checks), methods=(*a.methods, *b.methods), notes=(*a.notes, *b.notes))


def _number(name: str, text: str) -> Fraction:
    if len(text) > LONGEST:
        raise NumberError(f"The value of {name!r} is too long.", name=name, remedy=f"At most {LONGEST} characters.")
    value = f.exact(text)
    if not isinstance(value, Fraction):
        raise NumberError(f"The value of {name!r} is no number.", name=name, value=text, remedy="Write it as 0.25.")
    return value


def changeable(mechanism: Mechanism) -> dict[str, float]:
    """The numbers that a reader may change: declared parameters, or where there are none the masses of the links."""
    if mechanism.parameters:
        return {p.name: float(p.value) for p in mechanism.parameters if p.value is not None}
    masses = {link.name: link.inertia.mass for link in mechanism.links if link.inertia is not None}
    return {f"mass of {name}": float(m) for name, m in masses.items() if isinstance(m, Fraction) and m}


def with_values(mechanism: Mechanism, changes: Mapping[str, Fraction]) -> Mechanism:
    """The mechanism with other values of changeable numbers; UnknownNameError for another name."""
    known = changeable(mechanism)
    for name in changes:
        if name not in known:
            raise UnknownNameError(f"There is no parameter {name!r}; there are: {', '.join(known)}.", name=name)
    if mechanism.parameters:
        return with_parameters(mechanism, changes)
    for name, value in changes.items():
        link = mechanism.link(name.removeprefix("mass of "))
        assert link.inertia is not None
        mechanism = mechanism.replace_link(replace(link, inertia=replace(link.inertia, mass=value)))
    return mechanism


class Server(ThreadingHTTPServer):
    """A server of one Service; `url` is where its page is.

    slow: held by the one slow answer that is being made; calm: set while no quick one is.
    """

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, service: Service, port: int = 0) -> None:
        self.service = service
        self.token = secrets.token_urlsafe(24)
        self.slow = threading.Lock()
        self.calm = threading.Event()
        self.calm.set()
        super().__init__((HOST, port), Handler)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away or sends rubbish ends its own thread, silently."""


class _GoneError(Exception):
    """Nobody waits for the answer any more."""


class Handler(BaseHTTPRequestHandler):
    """GET /TOKEN/?robot=...&p.name=value for the page, GET /TOKEN/parts?of=...&robot=... for parts of it."""

    server: Server
    server_version, sys_version = "kane", ""
    timeout = SECONDS

    def do_GET(self) -> None:
        """The page, parts of it, or a short refusal."""
        port = self.server.server_port
        if self.headers.get("Host", "") not in (f"{HOST}:{port}", f"localhost:{port}"):
            self._answer(403, "Only this machine is served.")
            return
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            self._answer(403, "Only this server's own page is served.")
            return
        parts = urlsplit(self.path)
        given, _, rest = parts.path.strip("/").partition("/")
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self.server.token.encode()):
            self._answer(403, "The address lacks the token that the server printed when it started.")
            return
        if rest not in ("", "parts"):
            self._answer(404, "There is only the page here.")
            return
        try:
            if rest:
                self._send(200, "application/json", json.dumps(self._parts(parts.query), separators=(",", ":")))
            else:
                self._send(200, "text/html", self.server.service.page(parts.query))
        except (KaneError, ValueError) as error:
            if rest:
                self._send(400, "application/json", json.dumps({"error": str(error)}))
            else:
                self._answer(400, str(error))

    def _parts(self, query: str) -> dict[str, Any]:
        """Quick parts at once; slow ones one at a time, when no quick one is asked for, unless the client is gone."""
        if "more=" not in query:
            self.server.calm.clear()
            try:
                return self.server.service.parts(query)
            finally:
                self.server.calm.set()
        with self.server.slow:
            return self.server.service.parts(query, self._pause)

    def _pause(self, stage: str) -> None:
        self.server.calm.wait(SECONDS)
        if select.select([self.connection], [], [], 0)[0]:
            raise _GoneError(stage)  # nothing more is sent on this connection: readable means closed

    def _answer(self, status: int, text: str) -> None:
        page = f"<!DOCTYPE html><html lang='en'><title>{status}</title><p>{html.escape(text)}</p></html>"
        self._send(status, "text/html", page)

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Content-Security-Policy", "frame-ancestors 'none'"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""


def opened(service: Service, port: int) -> Server:
    """The server at a port; InputError with the way out where there is none."""
    remedy = "Take another one, or 0 for a free one."
    if not 0 <= port <= 65535:
        raise InputError(f"The port is {port}, not between 0 and 65535.", name="port", value=port, remedy=remedy)
    try:
        return Server(service, port)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"Port {port} cannot be had: {why}.", name="port", value=port, remedy=remedy) from None


def serve(
    first: str, load: Load, robots: Sequence[str] = (), port: int = 0, ready: Callable[[str], None] = lambda url: None,
    given: More = _nothing,
) -> None:  # fmt: skip
    """Serve until interrupted; `ready` is called with the address (it holds the token).

    Raises InputError for a port that is none, and for one that cannot be had.
    """
    with opened(Service(first, tuple(robots), load, given=given), port) as server:
        ready(server.url)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            return


def query(robot: str, changes: Mapping[str, str]) -> str:
    """The query string of a robot with changed parameters."""
    return urlencode([("robot", robot), *((f"p.{name}", value) for name, value in changes.items())])
