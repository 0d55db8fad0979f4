"""Patches: parsed strictly, and what stands out in one."""
