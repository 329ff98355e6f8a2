"""A small manual, FAQ and article that stand for the sources of the structure examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.structure.passages import Passage, read_folder

MANUAL = """<html><head><title>Pump control</title></head><body><h1>Pump control</h1>
<p>A pump is a machine that moves water from a lower to a higher place. Supported units are liters, gallons and barrels.
The daemon has four worker threads.</p>
<h2>Options</h2>
<dl><dt>--max-pressure=BAR</dt><dd><p>Sets the maximum pressure in the outer pipe. The default is 16.</p></dd>
<dt>--quiet</dt><dd><p>Suppresses all messages on the console.</p><p>New in version 2.4.</p></dd>
<dt>open_valve(name)</dt><dd><p>Opens the valve with the given name. Raises ValveError if the name is unknown.</p></dd>
</dl>
<h2>Draining the tank</h2>
<p>The tank has six windows.</p><p>Before you begin, look at the gauge. Then use this command:</p>
<pre>pumpctl drain --all</pre>
<p>To restart the pump, use the pumpctl restart command. It takes a minute until the pressure is back to normal.</p>
<h2>Ports</h2>
<table><tr><th>Service</th><th>Port</th><th>Protocol</th></tr>
<tr><td>control</td><td>7001</td><td>TCP</td></tr><tr><td>gauges</td><td>7002</td><td>UDP</td></tr>
<tr><td>alarms</td><td>7003</td><td>TCP</td></tr><tr><td>logs</td><td>7004</td><td>UDP</td></tr></table>
</body></html>"""
FAQ = """<html><head><title>Pump FAQ</title></head><body><h1>Pump FAQ</h1>
<h2>1. How often must I oil the pump?</h2><p>Oil the pump every six weeks. Use the oil from the small can.</p>
<h2>2. Who repairs a broken pump?</h2><p>The workshop in Leeds repairs all broken pumps. The form is on the wall.</p>
</body></html>"""
LEAD = (
    "Ada Brandt (4 March 1820 – 9 July 1891) was a Danish engineer. She was born in Odense and studied at Lund "
    "University. "
    "She is best known for the pumps of the harbor, which she designed with her brother."
)


@pytest.fixture(scope="session")
def manual(tmp_path_factory: pytest.TempPathFactory) -> list[Passage]:
    """The passages of two HTML pages, read as a pack is built."""
    folder: Path = tmp_path_factory.mktemp("manual")
    (folder / "pump.html").write_text(MANUAL, encoding="utf-8")
    (folder / "faq.html").write_text(FAQ, encoding="utf-8")
    return list(read_folder(folder, "pump-doc"))


@pytest.fixture(scope="session")
def article() -> list[Passage]:
    """The lead of an article about a person."""
    return [Passage("encyclopedia", "1", "Ada Brandt", "Introduction", "", LEAD)]
