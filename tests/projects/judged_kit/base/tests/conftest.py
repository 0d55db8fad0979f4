import pytest

from shelf import Shelf


@pytest.fixture
def shelf():
    made = Shelf(2)
    made.put("a", 1)
    made.put("b", 2)
    return made
