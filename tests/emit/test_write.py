"""Files are written all or not at all."""

from __future__ import annotations

import pytest

from kane.emit import write_files
from kane.errors import InputError


def test_writes_and_replaces(tmp_path):
    folder = tmp_path / "a" / "b"
    write_files({"x.c": "old\n"}, folder)
    assert write_files({"x.c": "neu\n", "y.h": "é\n"}, folder) == (folder / "x.c", folder / "y.h")
    assert sorted(p.name for p in folder.iterdir()) == ["x.c", "y.h"]
    assert (folder / "x.c").read_bytes() == b"neu\n" and (folder / "y.h").read_bytes() == "é\n".encode()


def test_a_text_that_cannot_be_written_changes_nothing(tmp_path):
    write_files({"x.c": "old\n"}, tmp_path)
    with pytest.raises(UnicodeEncodeError):
        write_files({"x.c": "new\n", "y.c": "\ud800"}, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["x.c"]
    assert (tmp_path / "x.c").read_text() == "old\n"


def test_refusals(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to"):
        write_files({"x.c": ""}, tmp_path / "file")
    for name in ("../x.c", "a/x.c", "", ".."):
        with pytest.raises(InputError, match="plain file name"):
            write_files({name: ""}, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
