"""The cache of object code: used again, and never believed when damaged, foreign or open to others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kane.graph.program import Program
from kane.native import NativeFunction, cache, compile_program

P = np.array([1.5, 0.75, 1.0, 0.5, 9.81])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("KANE_CACHE", str(place))
    return place


def from_cache(f: NativeFunction) -> bool:
    return f.choices[0].from_cache


def answer(f: NativeFunction) -> np.ndarray:
    return f([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])


def compiled(program: Program) -> NativeFunction:
    return compile_program(program, default_parameters=P)


def test_used_again_and_equal(folder: Path, two_link: Program) -> None:
    first = compiled(two_link)
    second = compiled(two_link)
    assert (from_cache(first), from_cache(second)) == (False, True)
    np.testing.assert_array_equal(answer(first), answer(second))
    batch = np.ones((9, 2))
    np.testing.assert_array_equal(first(batch, batch, batch), second(batch, batch, batch))
    assert len(list(folder.iterdir())) == 2
    assert not from_cache(compile_program(two_link, cache=False))


def test_another_program_and_type_have_other_keys(
    folder: Path, two_link: Program, random_program: Callable[..., Program]
) -> None:
    compiled(two_link)
    assert not from_cache(compile_program(random_program(0)))
    assert not from_cache(compile_program(two_link, dtype="float32"))


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "text", "other", "head"])
def test_damaged_files_are_made_again(
    folder: Path, two_link: Program, random_program: Callable[..., Program], damage: str
) -> None:
    good = answer(compiled(two_link))
    (path,) = folder.iterdir()
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
    elif damage == "cut":
        data = data[:-100]
    elif damage == "empty":
        data = bytearray()
    elif damage == "text":
        data = bytearray(b"not object code" * 500)
    elif damage == "head":
        data = data[: len(cache.MAGIC) + 64 + 32]
    elif damage == "other":  # sound, but another program's
        compile_program(random_program(0))
        (other,) = set(folder.iterdir()) - {path}
        data = bytearray(other.read_bytes())
    path.write_bytes(data)
    again = compiled(two_link)
    assert not from_cache(again)
    np.testing.assert_array_equal(answer(again), good)
    assert from_cache(compiled(two_link))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_files_that_others_may_write_are_ignored(folder: Path, two_link: Program) -> None:
    compiled(two_link)
    (path,) = folder.iterdir()
    path.chmod(0o666)
    assert not from_cache(compiled(two_link))
    assert from_cache(compiled(two_link))
    folder.chmod(0o777)
    assert not from_cache(compiled(two_link))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX links")
def test_links_are_ignored(folder: Path, two_link: Program, tmp_path: Path) -> None:
    compiled(two_link)
    (path,) = folder.iterdir()
    path.rename(tmp_path / "elsewhere.o")
    path.symlink_to(tmp_path / "elsewhere.o")
    assert not from_cache(compiled(two_link))


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_files_of_another_user_are_ignored(folder: Path, two_link: Program) -> None:
    compiled(two_link)
    (path,) = folder.iterdir()
    os.chown(path, 12345, -1)
    assert not from_cache(compiled(two_link))


def test_unwritable_or_absent_folder(two_link: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("a file where the folder should be")
    for place in (str(file), str(file / "below"), ""):
        monkeypatch.setenv("KANE_CACHE", place)
        assert not from_cache(compiled(two_link))
        assert not from_cache(compiled(two_link))


def test_valid_in_another_process(folder: Path, two_link: Program) -> None:
    here = answer(compiled(two_link))
    script = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('c', {str(Path(__file__).with_name('conftest.py'))!r})\n"
        "c = importlib.util.module_from_spec(spec); spec.loader.exec_module(c)\n"
        "from kane.native import compile_program\n"
        f"f = compile_program(c.make_two_link(), default_parameters={P.tolist()})\n"
        "assert f.choices[0].from_cache\n"
        "print(*(x.hex() for x in f([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]).tolist()))\n"
        "import numpy as np\n"
        "assert f(*[np.ones((3, 2))] * 3).shape == (3, 2)\n"
    )
    other = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=other)
    assert done.stdout.split() == [x.hex() for x in here.tolist()]


def test_directory_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KANE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform.startswith("linux"):
        assert cache.directory() == tmp_path / "kane"
