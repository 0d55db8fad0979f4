import unittest

from cart import Cart


class CartTest(unittest.TestCase):
    def setUp(self):
        self.cart = Cart()

    def test_nothing_costs_nothing(self):
        self.assertEqual(self.cart.total(), 0)

    def test_one_piece(self):
        self.cart.add("pen", 150)
        self.assertEqual(self.cart.total(), 150)
        self.assertEqual(self.cart.names(), ["pen"])

    def test_half(self):
        self.cart.add("pen", 150)
        self.assertEqual(self.cart.total("HALF"), 75)

    def test_removed(self):
        self.cart.add("pen", 150)
        self.cart.remove("pen")
        self.assertEqual(self.cart.names(), [])
