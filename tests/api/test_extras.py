"""How extras are installed is said in one way, which is true wherever kane is installed."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kane
from kane.errors import MissingExtraError, install

ROOT = Path(__file__).parent.parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
SOURCES = sorted((ROOT / "src/kane").rglob("*.py"))


def mjcf(tmp_path: Path) -> Any:
    (tmp_path / "a.mjcf").write_text("<mujoco/>")
    return kane.load(tmp_path / "a.mjcf")


def xacro(tmp_path: Path) -> Any:
    (tmp_path / "a.xacro").write_text("<robot/>")
    return kane.load(tmp_path / "a.xacro")


def clarabel(_: Path) -> Any:
    from kane.identification.consistent import impossible_bodies
    from kane.identification.torque_model import torque_model

    model = torque_model(kane.load("two_link").mechanism)
    return impossible_bodies(model, model.prior)


CASES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "sympy": ("sympy", lambda _: kane.derive(kane.load("two_link")).mass_matrix[0, 0].to_sympy()),
    "mujoco": ("mujoco", mjcf),
    "xacro": ("xacro", xacro),
    "clarabel": ("identify", clarabel),
    "matplotlib": ("plot", lambda path: kane.simulate(kane.load("two_link"), 0.1).plot(path / "run.svg")),
    "polars": ("logs", lambda path: kane.simulate(kane.load("two_link"), 0.1).save(path / "run.parquet")),
    "sksundae": ("dae", lambda _: kane.simulate(kane.load("two_link"), 0.1, method="BDF")),
}


@pytest.mark.parametrize("package", CASES)
def test_a_missing_package_names_its_extra(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [package, *(m for m in sys.modules if m.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    extra, run = CASES[package]
    with pytest.raises(MissingExtraError) as error:
        run(tmp_path)
    assert install(extra).rstrip(".") in str(error.value.remedy)


def test_messages_name_extras_that_there_are() -> None:
    named = {extra for file in SOURCES for extra in re.findall(r"kane\[(\w+)\]", file.read_text(encoding="utf-8"))}
    assert named and named <= set(EXTRAS)


DOCUMENTS = ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("file", DOCUMENTS)
def test_documents_install_extras_as_messages_do(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    for command in re.findall(r"pip install ([^`\n]*\[[^`\n]*)", text):
        assert re.match(r'"kane\[\w+\]"', command), command
    if file == "README.md":
        section = text.partition("## Extras")[2]
        assert set(re.findall(r"\[(\w+)\]", section)) >= set(EXTRAS) - {"dev"}


def test_make_demo_names_a_page_that_is_written(tmp_path: Path) -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndemo:")[2].partition("\n\n")[0].splitlines()
    out = re.search(r"--out (\S+)", recipe[-2])
    page = re.search(r"Open (\S+)", recipe[-1])
    assert out is not None and page is not None and recipe[-1].startswith("\t@echo")
    from kane.api.work import derive_work

    made = derive_work(kane.load("two_link"), tmp_path)["files"]
    assert Path(page.group(1)).parent == Path(out.group(1))
    assert Path(page.group(1)).name in {Path(name).name for name in made}
