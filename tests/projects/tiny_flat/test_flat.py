import flat


def test_half():
    assert flat.half(4) == 2
