"""Clients that others wrote drive the real program."""
