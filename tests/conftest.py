"""What every test may use: golden files, and the option that rewrites them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write what the code says into tests/golden/"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with `tests/golden/<path>`, byte for byte; `--update-golden` writes the file instead."""

    def compare(path: str, actual: str) -> None:
        file = GOLDEN / path
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(actual.encode())
        assert file.exists(), f"{file} is not there; write it with pytest --update-golden and read the diff"
        assert actual == file.read_bytes().decode()

    return compare
