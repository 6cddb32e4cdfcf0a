"""Experiments that a decision page rests on; each is run alone: python -m bench.experiments.NAME."""
