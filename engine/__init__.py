"""The engine process: streaming-input inference, the only package that may import torch."""
