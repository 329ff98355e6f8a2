"""Child processes in which a crash, a leak or a bomb does no harm."""
