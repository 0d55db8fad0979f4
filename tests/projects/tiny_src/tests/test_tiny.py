import tiny


def test_twice(mocker):
    assert tiny.twice(2) == "4"


def test_the_package_is_that_of_the_tree():
    assert tiny.__file__ == "/testbed/src/tiny/__init__.py"
