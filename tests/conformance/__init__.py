"""The laws that every method of the registry obeys, whatever it computes."""
