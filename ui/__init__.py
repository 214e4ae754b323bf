"""Qt windows and adapters from snapshots to widgets."""
