"""Hidden tests in Rust without their expectations."""
