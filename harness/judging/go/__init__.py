"""Values of Go on the host, and how its assertions are decided there."""
