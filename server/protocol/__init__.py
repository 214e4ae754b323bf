"""The wire: events, turn state and dialects, without sockets or clocks."""
