"""One file for each client dialect: a pure encoder and decoder."""
