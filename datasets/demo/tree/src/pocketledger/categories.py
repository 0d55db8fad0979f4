"""Categories by rules: the first word that matches wins."""


class Rules:
    """An ordered list of (word, category)."""

    def __init__(self, rules=()):
        self._rules = [(word.lower(), category) for word, category in rules]

    def category_of(self, text, default="other"):
        """Category of the first rule whose word is in the text, whatever the case."""
        lowered = text.lower()
        for word, category in self._rules:
            if word in lowered:
                return category
        return default
