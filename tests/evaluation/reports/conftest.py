from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.resampling import share_intervals


@pytest.fixture(scope="module", autouse=True)
def _shared_intervals() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        share_intervals(patch)
        yield
