"""The report served live to this machine only: pick another robot, change a parameter, see equations and counts change.

The server listens on 127.0.0.1, answers only GET, only under a random token in the path, and only for requests that
name this host (so that no web page elsewhere can ask it).  It writes nothing.
"""

from __future__ import annotations

import html
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from kane.errors import InputError, KaneError, NumberError, UnknownNameError
from kane.mechanism import formula as f
from kane.mechanism.model import Mechanism
from kane.report.build import Options, build_report
from kane.report.page import Live
from kane.report.render import render

HOST = "127.0.0.1"
SECONDS = 10.0  # that a client may take for its request
MOST_FIELDS, LONGEST = 200, 60
QUICK = Options(tolerances=(), targets=("c", "numpy"), steps=False, base=False, count_explicit=False)

Load = Callable[[str], Mechanism]


@dataclass(frozen=True, slots=True)
class Service:
    """What is served: the robots that may be picked and how they are loaded; first is shown first."""

    first: str
    robots: tuple[str, ...]
    load: Load
    options: Options = QUICK

    def page(self, query: str, token: str) -> str:
        """The page that a query string asks for: robot=NAME and p.NAME=VALUE for changed parameters.

        Raises InputError for what it does not understand.
        """
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
        changed = with_values(mechanism, changes)
        robots = tuple(dict.fromkeys((self.first, *self.robots)))
        live = Live(token, robots, tuple(changeable(changed).items()), robot)
        return render(build_report(changed, self.options, live=live))


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
        new = tuple(replace(p, value=changes.get(p.name, p.value)) for p in mechanism.parameters)
        return replace(mechanism, parameters=new)
    for name, value in changes.items():
        link = mechanism.link(name.removeprefix("mass of "))
        assert link.inertia is not None
        mechanism = mechanism.replace_link(replace(link, inertia=replace(link.inertia, mass=value)))
    return mechanism


class Server(ThreadingHTTPServer):
    """A server of one Service; `url` is where its page is."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, service: Service, port: int = 0) -> None:
        self.service = service
        self.token = secrets.token_urlsafe(24)
        super().__init__((HOST, port), Handler)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away or sends rubbish ends its own thread, silently."""


class Handler(BaseHTTPRequestHandler):
    """GET /TOKEN/?robot=...&p.name=value"""

    server: Server
    server_version, sys_version = "kane", ""
    timeout = SECONDS

    def do_GET(self) -> None:
        """The page, or a short refusal."""
        port = self.server.server_port
        if self.headers.get("Host", "") not in (f"{HOST}:{port}", f"localhost:{port}"):
            self._answer(403, "Only this machine is served.")
            return
        parts = urlsplit(self.path)
        given = parts.path.strip("/")
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self.server.token.encode()):
            self._answer(403, "The address lacks the token that the server printed when it started.")
            return
        try:
            self._answer(200, self.server.service.page(parts.query, self.server.token), whole=True)
        except (KaneError, ValueError) as error:
            self._answer(400, str(error))

    def _answer(self, status: int, text: str, whole: bool = False) -> None:
        title = "kane" if status == 200 else str(status)
        plain = f"<!DOCTYPE html><html lang='en'><title>{title}</title><p>{html.escape(text)}</p></html>"
        body = (text if whole else plain).encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
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


def serve(
    first: str, load: Load, robots: Sequence[str] = (), port: int = 0, ready: Callable[[str], None] = lambda url: None
) -> None:
    """Serve until interrupted; `ready` is called with the address (it holds the token)."""
    with Server(Service(first, tuple(robots), load), port) as server:
        ready(server.url)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            return


def query(robot: str, changes: Mapping[str, str]) -> str:
    """The query string of a robot with changed parameters."""
    return urlencode([("robot", robot), *((f"p.{name}", value) for name, value in changes.items())])
