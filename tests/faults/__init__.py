"""What happens to a session when the disk or the process fails, at every write and every sync of a run."""
