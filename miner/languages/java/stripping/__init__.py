"""Hidden tests in Java without their expectations."""
