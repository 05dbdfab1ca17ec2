"""The fixture `parley` for pytest: `pytest_plugins = ["parley.pytest_plugin"]` in conftest.py."""

from __future__ import annotations

from typing import Iterator

import pytest

from .testing import TestParley, start_parley


@pytest.fixture(scope="session")
def _parley_service() -> Iterator[TestParley]:
    with start_parley() as service:
        yield service


@pytest.fixture
def parley(_parley_service: TestParley) -> Iterator[TestParley]:
    """Parley with a simulated network. It starts once; each test has phones and endpoints of its own."""
    yield _parley_service
    _parley_service.reset()
