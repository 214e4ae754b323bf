"""The desktop application without widgets: audio, realtime client, transcript, commands, actions."""
