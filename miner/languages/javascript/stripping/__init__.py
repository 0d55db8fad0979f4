"""Expectations taken out of tests of JavaScript and TypeScript."""
