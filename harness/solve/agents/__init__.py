"""Ways to turn one problem and one model into a patch, each a module behind `harness.solve.base.Agent`."""
