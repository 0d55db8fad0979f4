"""The report with a server: a page on this machine over a folder of runs, for `goldseam view`."""
