"""Chromium for the tests of pages: one browser; of a page, everything it asks for and complains of is noted."""

from __future__ import annotations

import importlib.util
import runpy
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

import pytest

from kane.api.robot import load
from kane.report import Given, Options, build_report, render
from kane.verification.laws import verify
from robot_files import robot_files

CHROMIUM = which("chromium") or which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader",
]  # fmt: skip
ROOT = Path(__file__).parents[2]
PANDA = "erd/panda_description/urdf/panda.urdf"
PENDULUM = "erd/double_pendulum_description/urdf/double_pendulum.urdf"
HUMANOID = "erd/talos_data/robots/talos_reduced.urdf"


def four_bar():
    path = ROOT / "tests/kane_method/test_declared_cases.py"
    spec = importlib.util.spec_from_file_location("declared_cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.four_bar().mechanism()


def example(name):
    return runpy.run_path(str(ROOT / f"examples/{name}.py"))["build"]().mechanism()


def mechanism(name):
    match name:
        case "puma560" | "scara" | "ur_like":
            return load(name).mechanism
        case "two_link" | "rp_robot":
            return example(name)
        case "four_bar":
            return four_bar()
        case "panda":
            return load(robot_files()[PANDA], nonphysical="accept").mechanism
        case "floating":
            return load(robot_files()[PENDULUM], base="floating").mechanism
        case "humanoid":
            return load(robot_files()[HUMANOID], nonphysical="accept").mechanism
    raise KeyError(name)


def options(name):
    """Everything for the PUMA 560; the costly parts of the others are tested by their own folders."""
    if name == "puma560":
        return Options(tolerances=(0.01, 0.05), rule="paper")
    few = ("inverse_dynamics", "mass_matrix", "bias_forces", "gravity_forces")
    if name == "humanoid":  # its meshes, 40 files, are read and thinned for seconds; the panda has some
        return Options(tolerances=(), targets=("c",), base=False, tasks=few, folder=ROOT / "tests")
    return Options(tolerances=(), targets=("c", "numpy"), tasks=few)


@dataclass
class Opened:
    """A page in the browser with what it asked for and what it complained of."""

    page: object
    name: str
    requests: list = field(default_factory=list)
    complaints: list = field(default_factory=list)

    def run(self, script, argument=None):
        return self.page.evaluate(script, argument)


@pytest.fixture(scope="session")
def mechanisms():
    made = {}

    def get(name):
        if name not in made:
            made[name] = mechanism(name)
        return made[name]

    return get


@pytest.fixture(scope="session")
def files(mechanisms, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")

    def get(name):
        path = folder / f"{name}.html"
        if not path.exists():
            m = mechanisms(name)
            checks = [c.as_dict() for c in verify(m, {}, physical=False)] if name == "puma560" else []
            path.write_text(render(build_report(m, options(name), Given(checks=checks))), encoding="utf-8")
        return path

    return get


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    missing = "playwright is not installed (pip install kane[dev])"
    playwright = pytest.importorskip("playwright.sync_api", reason=missing)
    with playwright.sync_playwright() as p:
        context = p.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("profile")), executable_path=CHROMIUM, headless=True, args=ARGUMENTS,
            viewport={"width": 1280, "height": 900}, reduced_motion="reduce",
        )  # fmt: skip
        yield context
        context.close()


@pytest.fixture(scope="session")
def show(browser):
    """Open a page from a URL and wait until all of it is built."""

    def opened(url, name=""):
        page = browser.new_page()
        result = Opened(page, name)
        page.on("request", lambda r: result.requests.append(r.url))
        page.on("pageerror", lambda e: result.complaints.append(str(e)))
        page.on("console", lambda m: result.complaints.append(m.text) if m.type == "error" else None)
        page.goto(url)
        page.evaluate("kane.ready.then(() => null)")
        return result

    return opened


@pytest.fixture(scope="session")
def view(show, files):
    """Pages by robot name, each opened once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = show(files(name).as_uri(), name)
        return made[name]

    yield get
    for opened in made.values():
        opened.page.close()
