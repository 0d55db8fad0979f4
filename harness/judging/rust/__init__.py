"""Values of Rust on the host, and how its assertions are decided there."""
