"""The shell: a tool that runs commands, and what becomes of their processes, their output and their environment."""
