"""Match the labels and panels of tabs on an HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

# Selectors of tab list, tab and panel: ARIA roles (Docusaurus, sphinx-tabs, Starlight), then MkDocs Material.
_TAB_SETS = (
    ("[role=tablist]", "[role=tab]", "[role=tabpanel]"),
    (".tabbed-labels", "label", ".tabbed-block"),
)
_MAX_TABS = 100
_LEVELS_UP = 2


def tab_sets(root: LexborNode) -> Iterator[tuple[LexborNode, list[tuple[LexborNode, LexborNode]]]]:
    """Yield each tab list below ``root`` that is followed by its panels, with the pairs of tab and panel."""
    for list_selector, tab_selector, panel_selector in _TAB_SETS:
        panels = {node.mem_id for node in root.css(panel_selector)}
        tab_lists = root.css(list_selector) if panels else []
        list_ids = {node.mem_id for node in tab_lists}
        for tab_list in tab_lists:
            tabs = tab_list.css(tab_selector)
            found = _panels_after(tab_list, panels, list_ids)
            # With a different number of panels, the tabs may not belong to them.
            if len(found) == len(tabs):
                yield tab_list, list(zip(tabs, found, strict=True))


def _panels_after(tab_list: LexborNode, panels: set[int], tab_lists: set[int]) -> list[LexborNode]:
    """Return the panels among or directly below the siblings after ``tab_list``, up to the next tab list."""
    node: LexborNode | None = tab_list
    for _ in range(_LEVELS_UP):
        if node is None:
            break
        found: list[LexborNode] = []
        for sibling in _elements_after(node):
            near = [sibling, *sibling.iter()]
            if any(element.mem_id in tab_lists for element in near):
                break
            if sibling.mem_id in panels:
                found.append(sibling)
            else:
                found.extend(child for child in near if child.mem_id in panels)
        if found:
            return found
        node = node.parent
    return []


def _elements_after(node: LexborNode) -> Iterator[LexborNode]:
    current = node.next
    for _ in range(_MAX_TABS):
        if current is None:
            return
        if current.is_element_node:
            yield current
        current = current.next
