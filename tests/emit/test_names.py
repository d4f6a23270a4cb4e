"""Names: safe everywhere, distinct, reversible."""

from __future__ import annotations

import keyword
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from kane.emit.names import RESERVED, comment_text, make_names, safe_name


def test_awkward_names():
    awkward = ["lambda", "x_{1}", "x_1", "double", "3rd.link", "wrist-roll", "θ_1", "Σ", "é", "", "_", "y0", "end"]
    names = make_names(awkward)
    assert names.code == {
        "lambda": "lambda_", "x_{1}": "x_1_2", "x_1": "x_1", "double": "double_", "3rd.link": "n3rd_link",
        "wrist-roll": "wrist_roll", "θ_1": "theta_1", "Σ": "Sigma", "é": "e", "": "n", "_": "n_2", "y0": "y0_",
        "end": "end_",
    }  # fmt: skip
    assert names.user_of("n3rd_link") == "3rd.link"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=12), st.lists(st.sampled_from(["q", "k", "tau", "x_1"]), max_size=3))
def test_any_names_become_distinct_identifiers_and_come_back(users, reserved):
    names = make_names(users, reserved)
    assert list(names.code) == list(dict.fromkeys(users))
    assert len(set(names.code.values())) == len(names.code)
    for user, code in names.pairs:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", code) and "__" not in code and len(code) <= 63
        assert code not in RESERVED and code not in reserved and not keyword.iskeyword(code)
        assert names.user_of(code) == user


@settings(max_examples=100, deadline=None)
@given(st.from_regex(r"[a-zA-Z][a-zA-Z0-9]{0,20}", fullmatch=True))
def test_plain_names_are_kept(user):
    assert safe_name(user) == (f"{user}_" if user in RESERVED else user)


def test_keywords_of_all_languages_are_reserved():
    words = "lambda double restrict _Bool nullptr elif nonlocal parfor classdef baremodule mutable crate sin fma j0"
    assert {w for w in words.split() if safe_name(w) == w} == set()


def test_prefix_avoids_names():
    assert make_names(["t1", "v", "w2"]).prefix() == "v"
    assert make_names(["t1", "v2", "w3", "z4"]).prefix() == "t_"


def test_comments_stay_comments():
    for text in ("a */ b", "/* x", "??/", 'say """', "line\nbreak", "end \\", "\u202e", "#= x =#"):
        safe = comment_text(text)
        assert not any(bad in safe for bad in ("*/", "/*", "??", '"""', "\n", "\u202e", "#=", "=#"))
        assert not safe.endswith("\\")
