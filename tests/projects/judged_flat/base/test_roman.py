import json
import os
import unittest

import roman

HERE = os.path.dirname(os.path.abspath(__file__))


def cases(kind):
    with open(os.path.join(HERE, "data", "cases.json")) as file:
        return {int(number): text for number, text in json.load(file)[kind].items()}


class PlainTest(unittest.TestCase):
    def test_plain(self):
        for number, text in cases("plain").items():
            self.assertEqual(roman.to_roman(number), text)

    def test_range(self):
        with self.assertRaises(ValueError):
            roman.to_roman(0)

    def test_signs(self):
        self.assertTrue(roman.is_roman("MIX"))
        self.assertFalse(roman.is_roman("MIXED"))


if __name__ == "__main__":
    unittest.main()
