"""The command line of mining, and of the whole program."""
