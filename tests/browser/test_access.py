"""Keyboard, names and roles, contrast: axe-core finds nothing serious; themes and tabs work by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

AXE = Path(__file__).parent / "assets" / "axe.min.js"


@pytest.mark.parametrize("name", ("puma560", "four_bar", "humanoid"))
@pytest.mark.parametrize("theme", ("light", "dark"))
def test_axe_finds_nothing_serious(view, name, theme):
    page = view(name)
    page.run("(theme) => kane.setTheme(theme)", theme)
    # one of each kind of folded part: the tree of thousands of formulas only takes time
    page.run("() => document.querySelectorAll('details').forEach((d) => { d.open = false; })")
    parts = "#robot details, #base details, #code details:first-of-type, #equations details:last-of-type, "
    parts += "[data-step='0'], [data-step='1'], [data-step='3']"
    page.run("(parts) => document.querySelectorAll(parts).forEach((d) => { d.open = true; kane.open(d); })", parts)
    page.run("(text) => { if (!window.axe) (0, eval)(text); }", AXE.read_text(encoding="utf-8"))
    found = page.run("() => axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)")
    page.run("() => kane.setTheme('auto')")
    serious = [
        (v["id"], v["impact"], [n["target"] for n in v["nodes"][:3]])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert not serious


def test_tabs_are_moved_by_arrows(view):
    page = view("puma560")
    page.page.locator("#tab-c").click()
    page.page.keyboard.press("ArrowRight")
    assert page.run("() => document.activeElement.id") == "tab-numpy"
    assert page.run("() => ['code-c', 'code-numpy'].map((id) => document.getElementById(id).hidden)") == [True, False]
    page.page.keyboard.press("Home")
    assert page.run("() => document.activeElement.id") == "tab-c"


def test_code_is_copied(view):
    page = view("puma560")
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    details = page.page.locator("#code-numpy details").first
    page.page.locator("#tab-numpy").click()
    page.run("() => { const d = document.querySelector('#code-numpy details'); d.open = true; kane.open(d); }")
    details.locator("button.copy").click()
    page.page.wait_for_timeout(100)
    shown = page.run("() => document.querySelector('#code-numpy details code').textContent")
    assert "def " in shown
    assert details.locator("button.copy").text_content() in ("Copied", "Selected: press Ctrl+C")


def test_themes_differ(view):
    page = view("two_link")
    seen = []
    for theme in ("light", "dark"):
        page.run("(theme) => kane.setTheme(theme)", theme)
        seen.append(page.run("() => getComputedStyle(document.body).backgroundColor"))
    page.run("() => kane.setTheme('auto')")
    assert seen[0] != seen[1]


def test_formulas_are_set_in_the_embedded_font(view):
    page = view("puma560")
    assert page.run("() => document.fonts.ready.then(() => document.fonts.check('16px \"Kane Math\"'))")
    assert "Kane Math" in page.run("() => getComputedStyle(document.querySelector('#elements math')).fontFamily")
