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

    def test_pieces_are_counted(self):
        self.cart.add("pen", 150, 3)
        self.assertEqual(self.cart.total(), 450)

    def test_adding_again_adds(self):
        self.cart.add("pen", 150)
        self.cart.add("pen", 150)
        self.assertEqual(self.cart.total(), 300)

    def test_a_discount_is_rounded_down(self):
        self.cart.add("pen", 119)
        self.assertEqual(self.cart.total("TEN"), 108)

    def test_an_unknown_code_is_refused(self):
        self.cart.add("pen", 150)
        with self.assertRaises(ValueError):
            self.cart.total("TWENTY")

    def test_removing_what_is_not_there_does_nothing(self):
        self.cart.remove("pen")
        self.assertEqual(self.cart.names(), [])
