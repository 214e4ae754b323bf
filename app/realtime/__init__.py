"""The client of /v1/realtime: connection, replay, events."""
