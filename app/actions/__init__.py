"""What a command does on this computer; one family a file."""
