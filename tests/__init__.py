"""What belongs to no room: the house as a whole, seen from outside."""
