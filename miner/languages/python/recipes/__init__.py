"""From evidence to recipes, and what is known about failed builds."""
