"""Hidden tests without their expectations: found in the syntax tree, taken out, recorded from the fix."""
