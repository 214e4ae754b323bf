"""One backend for each kind of desktop session."""
