"""The structure of notes as blocks: tasks, footnotes, code, definitions, containers and MDX."""

from __future__ import annotations

import pytest
from tests.sources.blocks import described, table
from tests.sources.markdown.notes import article, lead


def blocks(text: str) -> list[tuple[int, str, str, str]]:
    (section,) = article(text).sections
    return described(section)


def test_tasks_have_a_state() -> None:
    assert blocks(
        "Today:\n\n- [x] Oil the gate\n  - [ ] Buy oil\n- [X] Call Ann\n1. [ ] Rest\n- [y] no\n- [](a.md)\n"
    ) == [
        (0, "paragraph", "", "Today:"), (0, "task", "done", "- [x] Oil the gate"), (1, "task", "open", "- [ ] Buy oil"),
        (0, "task", "done", "- [x] Call Ann"), (0, "task", "open", "1. [ ] Rest"), (0, "item", "-", "- [y] no"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("```python\nimport tomllib\n\nx = 1\n```", (0, "code", "python", "import tomllib\n\nx = 1")),
        ("~~~ {.python}\nimport tomllib\n~~~", (0, "code", "python", "import tomllib")),
        ("```{python}\nimport tomllib\n```", (0, "code", "python", "import tomllib")),
        ('```js title="a.js"\nimport x from "y";\n```', (0, "code", "js", 'import x from "y";')),
        ("    import tomllib\n\n    x = 1", (0, "code", "", "import tomllib\n\nx = 1")),
        ("`make all`", (0, "code", "", "make all")),
    ],
)
def test_code_is_one_block_with_its_language(text: str, block: tuple[int, str, str, str]) -> None:
    assert blocks(f"So:\n\n{text}\n") == [(0, "paragraph", "", "So:"), block]


def test_code_stands_inside_its_item() -> None:
    assert blocks("1. Run:\n\n   ```sh\n   make\n   ```\n\n   Then wait.\n2. Stop.\n") == [
        (0, "item", "1.", "1. Run:"),
        (1, "code", "sh", "make"),
        (1, "paragraph", "", "Then wait."),
        (0, "item", "2.", "2. Stop."),
    ]


def test_footnotes_definitions_and_quotations() -> None:
    assert blocks("A[^1] b[^x].\n\nSluice\n: A gate.\n\n> Mind it.\n\n[^1]: One.\n\n    More.\n[^x]: Two.\n") == [
        (0, "paragraph", "", "A b."), (0, "term", "", "Sluice"), (1, "paragraph", "", "A gate."),
        (0, "quotation", "", "Mind it."), (0, "footnote", "1", "One."), (1, "paragraph", "", "More."),
        (0, "footnote", "x", "Two."),
    ]  # fmt: skip


def test_tables_have_columns_and_cells() -> None:
    (section,) = article("Fees:\n\n| Bag | Price |\n|---|--:|\n| Oats | 9 `€` |\n| Rye | |\n").sections
    assert table(section) == [("Bag", "Price"), ("Oats", "9 €"), ("Rye",)]


@pytest.mark.parametrize("mark", ['<sup><a href="#n1">3</a></sup>', "<sup>[3](notes.md#n1)</sup>", "[^3]"])
def test_marks_of_footnotes_in_text_are_left_out(mark: str) -> None:
    assert lead(f"It ground 1200{mark} bags, 5 m<sup>2</sup>.\n\n[^3]: x\n").startswith("It ground 1200 bags, 5 m^2.")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("import Tabs from '@theme/Tabs';\nimport {\n  A,\n  B\n} from './x'\n\nText.", "Text."),
        ("export const meta = {\n  a: 1\n}\n\nText.", "Text."),
        ("import './a.css';\n\nText {/* hidden */} here.", "Text here."),
        ('import goods from "Norway" quickly.', 'import goods from "Norway" quickly.'),
        ("export goods are cheap.", "export goods are cheap."),
        ("Text.\nimport a from 'b';", "Text. import a from 'b';"),
        ("    import a from 'b';", "import a from 'b';"),
        (":::note Mind this\n\nText.\n\n:::\n\nEnd.", "Mind this\n\nText.\n\nEnd."),
        ("::: {.warning}\nText.\n:::", "Warning\n\nText."),
        ("::::tip[My tip]\nText.\n::::", "My tip\n\nText."),
        ('!!! note "Mind **this**"\n    Text.\n\n    - a\n    - b\nEnd.', "Mind this\n\nText.\n\n- a\n- b\n\nEnd."),
        ("???+ warning inline\n    Text.\n\n    !!! tip\n        More.", "Warning\n\nText.\n\nTip\n\nMore."),
        ('=== "Linux"\n\n    ```sh\n    make\n    ```\n\n=== "Mac"\n\n    Click.', "Linux\n\nmake\n\nMac\n\nClick."),
        ('- a\n\n    !!! note ""\n        Text.', "- a\n\n  Text."),
        ("!!! note\nText.", "!!! note Text."),
        ("Wow!!! note\n    Text.", "Wow!!! note Text."),
        ('<Tabs>\n<TabItem value="l" label="Linux">\n\nRun it.\n\n</TabItem>\n</Tabs>', "Linux\n\nRun it."),
    ],
)
def test_pages_of_mdx(text: str, shown: str) -> None:
    assert lead(text) == shown
