"""What providers put on the wire, and what becomes of it; nothing here imports the codecs."""
