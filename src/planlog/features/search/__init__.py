"""Searching the workspace: a tool for names and one for lines, by ripgrep where it is installed and without it."""
