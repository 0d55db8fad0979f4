"""Rust in the miner."""
