"""Tide tables and warnings."""
