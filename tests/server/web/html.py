"""Read pages like a browser without a script, and check what every page promises."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode
from starlette.testclient import TestClient

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ADDRESSES = (
    "href",
    "src",
    "action",
    "formaction",
    "data",
    "poster",
    "srcset",
    "xlink:href",
    "data-events",
    "data-address",
)
# Elements that could load something or change where links lead.
_FORBIDDEN = "object, embed, base, style, img, video, audio, form[method=post], meta[http-equiv]"


def get(client: TestClient, address: str, status: int = 200) -> LexborHTMLParser:
    """Return the page at ``address`` after all checks."""
    response = client.get(address)
    assert response.status_code == status, (address, response.status_code, response.text[-600:])
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return check(response.text)


def check(html: str) -> LexborHTMLParser:
    """Parse a page; fail if anything in it could run, load from another host, or steer the terminal or the reader."""
    assert not CONTROL.search(html)
    page = LexborHTMLParser(html)
    assert not page.css(_FORBIDDEN), page.css(_FORBIDDEN)[0].html
    for node in page.css("*"):
        for name, value in node.attributes.items():
            assert not name.startswith("on") and name != "style", node.html
            if name in _ADDRESSES:
                _check_address(node, name, value or "")
    scripts = page.css("script")
    assert all(str(s.attributes["src"]).startswith("/static/") and not s.text().strip() for s in scripts)
    ids = Counter(node.attributes["id"] for node in page.css("[id]"))
    assert all(count == 1 for count in ids.values()), ids.most_common(1)
    assert page.css_first("h1") is not None and page.css_first("title") is not None
    return page


def _check_address(node: LexborNode, name: str, value: str) -> None:
    if name == "href" and node.tag == "a" and urlsplit(value).scheme:
        assert value.startswith(("https://", "http://")), value
        assert node.attributes["rel"] == "noopener noreferrer", node.html
        return
    # Neither another host nor a path that a browser takes for one.
    assert value.startswith(("/", "#")) and not value.startswith(("//", "/\\")), (name, value)


def text(page: LexborHTMLParser | LexborNode, selector: str) -> str:
    """Return the text of the first element that ``selector`` finds, on one line."""
    found = page.css_first(selector)
    assert found is not None, selector
    return " ".join(found.text().split())


def texts(page: LexborHTMLParser | LexborNode, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in page.css(selector)]


def attribute(page: LexborHTMLParser | LexborNode, selector: str, name: str) -> str | None:
    """Return an attribute of the first element that ``selector`` finds."""
    found = page.css_first(selector)
    assert found is not None, selector
    return found.attributes[name]


def href(page: LexborHTMLParser | LexborNode, selector: str) -> str:
    """Return where the first link that ``selector`` finds leads."""
    return str(attribute(page, selector, "href"))


def crawl(client: TestClient, start: list[str], limit: int) -> dict[str, LexborHTMLParser]:
    """Return the pages that links lead to, at most ``limit``, breadth first; each is checked."""
    found: dict[str, LexborHTMLParser] = {}
    queue = list(start)
    while queue and len(found) < limit:
        address = queue.pop(0).partition("#")[0]
        if not address or address in found:
            continue
        found[address] = get(client, address)
        queue += [
            link for node in found[address].css("a[href]") if (link := str(node.attributes["href"])).startswith("/")
        ]
    return found
