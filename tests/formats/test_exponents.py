"""Numbers with exponents that no number type holds are refused by name, in every text form that is read exactly."""

from __future__ import annotations

import pytest

import kane
from kane.formats import read, write_toml

EXPONENTS = ["1e99999999999999999999", "-2.5e-99999999999999999999", "9e" + "9" * 400, "1e-9999999", "1e400"]
JSON = '{"convention": "standard", "joints": [{"alpha": 0.5, "a": 0.1, "d": %s, "theta": "q1", "mass": 1.5, "com": [0.1, 0, 0.2], "inertia": [1, 2, 3]}]}'  # noqa: E501
TOML = 'convention = "standard"\n[[joint]]\nalpha = 0.5\na = 0.1\nd = %s\ntheta = "q1"\nmass = 1.5\n'


@pytest.mark.parametrize("number", EXPONENTS, ids=lambda x: x[:12])
def test_dh_tables_and_toml(number: str, tmp_path) -> None:
    own = write_toml(kane.load("two_link").mechanism)
    assert "0.5" in own
    for suffix, text in (("json", JSON % number), ("toml", TOML % number), ("toml", own.replace("0.5", number, 1))):
        file = tmp_path / f"arm.{suffix}"
        file.write_text(text)
        with pytest.raises(kane.InputError) as refused:
            read(file)
        assert refused.value.remedy
