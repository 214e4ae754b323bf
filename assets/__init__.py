"""Data files: icons, command grammars."""
