"""Rust in the harness."""
