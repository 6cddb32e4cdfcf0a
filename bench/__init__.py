"""Measurements of planlog, each beside a floor or a peer that imports nothing of it, in the same run."""
