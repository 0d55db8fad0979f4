def check_keys(shelf, expected):
    found = shelf.keys()
    assert found == expected, "found %r" % (found,)
