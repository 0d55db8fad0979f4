"""Containers: jobs and sessions on an engine, locked down."""
