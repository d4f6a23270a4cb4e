"""The live server: refuses other hosts and tokens, survives malformed requests, computes what is asked."""

from __future__ import annotations

import json
import re
import socket
import threading
from fractions import Fraction
from http.client import HTTPConnection

import pytest

from kane.api.robot import load
from kane.equations.derive import derive_task
from kane.errors import InputError, UnknownNameError
from kane.report import Server, Service
from kane.report.serve import QUICK, changeable, query, serve, with_values


@pytest.fixture(scope="module")
def server():
    service = Service("two_link", ("two_link", "scara"), lambda name: load(name).mechanism, QUICK)
    with Server(service) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join(5)


def ask(server, path, method="GET", host=None, body=None, more=None):
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    headers = ({"Host": host} if host is not None else {}) | (more or {})
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def data_of(page, part):
    found = re.search(rf'<script type="application/json" data-part="{part}">(.*?)</script>', page)
    return json.loads(found[1])


def test_it_listens_on_this_machine_only_with_a_token_of_its_own(server):
    assert server.server_address[0] == "127.0.0.1"
    other = Server(server.service)
    other.server_close()
    assert other.token != server.token and len(server.token) >= 32


def test_the_page_is_served_under_the_token(server):
    status, page, headers = ask(server, f"/{server.token}/")
    assert status == 200 and page.startswith("<!DOCTYPE html>")
    assert data_of(page, "live")["robots"] == ["two_link", "scara"]
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("path", ("/", "/wrong/", "/%00/", "//", "/" + "x" * 5000, "/../../etc/passwd"))
def test_bad_tokens_are_refused(server, path):
    status, page, _ = ask(server, path)
    assert status == 403 and server.token not in page


@pytest.mark.parametrize("host", ("example.com", "evil.example:80", "127.0.0.1", "localhost:1", "", "127.0.0.1.nip.io"))
def test_other_hosts_are_refused(server, host):
    status, page, _ = ask(server, f"/{server.token}/", host=host)
    assert status == 403 and server.token not in page


@pytest.mark.parametrize("method", ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"))
def test_only_get_is_answered(server, method):
    status, _, _ = ask(server, f"/{server.token}/", method=method, body="x=1")
    assert status == 501


@pytest.mark.parametrize(
    "asked",
    ("robot=nobody", "robot=/etc/passwd", "p.m1=abc", "p.m1=1e999999999", "p.m1=nan", "p.nothing=1", "&&&=;",
     "p.m1=" + "1" * 99,
     "robot=two_link&" + "&".join(f"p.x{k}=1" for k in range(300))),
)  # fmt: skip
def test_what_is_not_understood_is_refused_with_a_reason(server, asked):
    status, page, _ = ask(server, f"/{server.token}/?{asked}")
    assert status == 400 and "<script" not in page and "Traceback" not in page


@pytest.mark.parametrize("site", ("cross-site", "same-site", "evil"))
def test_requests_of_other_pages_are_refused(server, site):
    for path in ("", "parts?of=counts"):
        status, page, _ = ask(server, f"/{server.token}/{path}", more={"Sec-Fetch-Site": site})
        assert status == 403 and server.token not in page
    assert ask(server, f"/{server.token}/parts?of=counts", more={"Sec-Fetch-Site": "same-origin"})[0] == 200


def test_parts_are_answered_as_json_each_with_its_html_and_data(server):
    status, text, headers = ask(server, f"/{server.token}/parts?of=counts,scene&robot=scara")
    made = json.loads(text)
    assert status == 200 and headers["Content-Type"].startswith("application/json")
    assert made["name"] == "scara" and {p["id"] for p in made["parts"]} == {"counts", "scene"}
    scene = next(p for p in made["parts"] if p["id"] == "scene")
    assert scene["data"]["name"] == "scara" and 'id="view"' in scene["html"] and "<script" not in scene["html"]


def test_every_part_of_the_page_can_be_asked_for(server):
    page = ask(server, f"/{server.token}/")[1]
    live = data_of(page, "live")
    asked = {name for group in (*live["first"], *live["later"]) for name in group.split(",")}
    shown = set(re.findall(r'<section id="(\w+)"', page)) - {"live"}
    assert shown == asked
    for group in live["later"]:
        status, text, _ = ask(server, f"/{server.token}/parts?of={group}&more=1")
        assert status == 200 and {p["id"] for p in json.loads(text)["parts"]} == set(group.split(","))
        assert all(p["title"] and p["html"].strip() for p in json.loads(text)["parts"])


@pytest.mark.parametrize("of", ("", "nothing", "robot,nothing", "../../x", "%3Cscript%3E", "robot,,"))
def test_parts_that_there_are_not_are_refused(server, of):
    status, text, _ = ask(server, f"/{server.token}/parts?of={of}")
    assert status == 400 and "There is no part" in json.loads(text)["error"]


@pytest.mark.parametrize("path", ("parts/x", "other", "parts/../..", "page.html"))
def test_there_is_nothing_else(server, path):
    assert ask(server, f"/{server.token}/{path}")[0] in (403, 404)


def test_a_slow_answer_nobody_waits_for_is_given_up(server):
    """A client that closes while another slow part is made: the server stays of use."""
    query = f"/{server.token}/parts?of=explicit,counts&more=1&levels=1&robot=scara"
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=5) as raw:
            raw.sendall(f"GET {query} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
    status, text, _ = ask(server, query)
    made = {p["id"]: p for p in json.loads(text)["parts"]}
    assert status == 200 and len(made["explicit"]["data"]["levels"]) == 4


def test_an_error_shows_markup_as_text(server):
    status, page, _ = ask(server, f"/{server.token}/?robot=%3Cscript%3Ealert(1)%3C/script%3E")
    assert status == 400 and "<script>" not in page and "&lt;script&gt;" in page


@pytest.mark.parametrize(
    "rubbish",
    (b"\x00\xff\xfe\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
     b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 300 + b"\r\n", b"GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n", b""),
)  # fmt: skip
def test_it_survives_malformed_requests(server, rubbish):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=5) as raw:
        raw.sendall(rubbish)
        raw.shutdown(socket.SHUT_WR)
        while raw.recv(65536):
            pass
    assert ask(server, f"/{server.token}/?robot=two_link")[0] == 200


def test_a_changed_parameter_changes_equations_and_counts(server):
    name = next(iter(changeable(load("two_link").mechanism)))
    plain = ask(server, f"/{server.token}/")[1]
    status, changed, _ = ask(server, f"/{server.token}/?{query('two_link', {'r2': '0'})}")
    assert status == 200
    m = load("two_link").mechanism
    expected = derive_task(with_values(m, {"r2": Fraction(0)}), "inverse_dynamics").program.counts.total
    assert expected < derive_task(m, "inverse_dynamics").program.counts.total
    count = lambda page: int(re.search(r"inverse_dynamics <span class=\"count\">(\d+) operations", page)[1])
    assert count(changed) == expected and count(plain) > expected
    assert dict(data_of(changed, "live")["parameters"])["r2"] == 0
    assert name in dict(data_of(changed, "live")["parameters"])


def test_masses_can_be_changed_where_nothing_is_named():
    from robot_files import robot_files

    m = load(robot_files()["erd/double_pendulum_description/urdf/double_pendulum.urdf"]).mechanism
    names = list(changeable(m))
    assert names and all(n.startswith("mass of ") for n in names)
    heavy = with_values(m, {names[0]: Fraction(7)})
    assert changeable(heavy)[names[0]] == 7
    with pytest.raises(UnknownNameError, match="mass of"):
        with_values(m, {"nothing": Fraction(1)})


def test_another_robot(server):
    status, page, _ = ask(server, f"/{server.token}/?robot=scara")
    assert status == 200 and data_of(page, "scene")["name"] == "scara"


def test_a_service_refuses_by_error():
    service = Service("two_link", (), lambda name: load(name).mechanism)
    with pytest.raises(InputError):
        service.page("p.m1=x")


@pytest.mark.parametrize("port", [-1, 65536, 99999])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(InputError, match=f"{port}, not between 0 and 65535"):
        serve("two_link", lambda name: load(name).mechanism, port=port)


def test_a_port_in_use_is_refused(server):
    with pytest.raises(InputError, match=f"Port {server.server_port} cannot be had"):
        serve("two_link", lambda name: load(name).mechanism, port=server.server_port)
