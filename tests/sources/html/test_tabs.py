"""Tabs of an HTML page."""

from __future__ import annotations

import pytest
from tests.sources.html.pages import lead


@pytest.mark.parametrize(
    "hidden", ["hidden", "hidden=true", "aria-hidden=true", "style='display:none'", "class=hidden"]
)
def test_a_panel_that_waits_for_its_tab_is_text(hidden: str) -> None:
    panels = f"<div role=tabpanel><p>npm i</div><div role=tabpanel {hidden}><p>yarn add</div>"
    assert lead(panels) == "npm i\n\nyarn add"
    assert lead(f"<p>x</p><div hidden>{panels}</div>") == "x"


@pytest.mark.parametrize(
    "tabs",
    [
        # Docusaurus, sphinx-tabs, Starlight, MkDocs Material.
        "<ul role=tablist><li role=tab>C<li role=tab>C++</ul>"
        "<div><div role=tabpanel>int</div><div role=tabpanel hidden>auto</div></div>",
        "<div role=tablist><button role=tab>C</button><button role=tab>C++</button></div>"
        "<div role=tabpanel>int</div><div role=tabpanel hidden=true>auto</div>",
        "<x-tabs><div><ul role=tablist><li><a role=tab>C</a><li><a role=tab>C++</a></ul></div>"
        "<div role=tabpanel>int</div><div role=tabpanel hidden>auto</div></x-tabs>",
        "<div class=tabbed-labels><label>C</label><label>C++</label></div>"
        "<div class=tabbed-content><div class=tabbed-block>int</div><div class=tabbed-block>auto</div></div>",
    ],
)
def test_the_label_of_a_tab_stands_at_its_panel(tabs: str) -> None:
    for twice in (f"<div>{tabs}</div><div>{tabs}</div>", tabs * 2):
        assert lead(twice) == "\n\n".join(["C", "int", "C++", "auto"] * 2)


def test_labels_without_as_many_panels_stay_where_they_are() -> None:
    tabs = "<ul role=tablist><li role=tab>A<li role=tab>B</ul><div role=tabpanel>one</div>"
    assert lead(tabs) == "- A\n- B\n\none"
