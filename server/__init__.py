"""The realtime server: one WebSocket endpoint over one engine process."""
