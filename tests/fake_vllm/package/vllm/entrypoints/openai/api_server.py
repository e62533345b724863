"""The real one is a server; here it only has to be there."""
