"""Torch modules shared by the runners."""
