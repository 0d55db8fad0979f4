"""Values of Java on the host, and how its assertions are decided there."""
