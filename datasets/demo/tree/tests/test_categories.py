from pocketledger.categories import Rules


def test_the_first_rule_wins():
    rules = Rules([("bakery", "food"), ("bake", "hobby")])
    assert rules.category_of("Corner Bakery") == "food"


def test_text_without_a_rule_gets_the_default():
    assert Rules().category_of("Corner Bakery") == "other"
