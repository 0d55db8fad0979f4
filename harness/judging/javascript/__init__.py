"""Values of JavaScript on the host, and how its assertions are decided there."""
