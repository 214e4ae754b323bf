"""From the microphone to 16 kHz speech."""
