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


class SubtractiveTest(unittest.TestCase):
    def test_cases_of_the_data_file(self):
        for number, text in cases("subtractive").items():
            self.assertEqual(roman.to_roman(number), text)

    def test_four(self):
        self.assertEqual(roman.to_roman(4), "IV")

    def test_every_numeral_is_short(self):
        self.assertEqual(max(len(roman.to_roman(number)) for number in range(1, 4000)), 15)


if __name__ == "__main__":
    unittest.main()
