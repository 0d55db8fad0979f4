"""From runs to scores and comparisons."""
