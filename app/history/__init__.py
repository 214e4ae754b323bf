"""What was said before, kept on this computer for as long as the user wants: nothing, unless chosen. Never sound."""
