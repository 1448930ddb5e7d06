"""The work of `addin autostart`: running in the background, the state of it, and its end."""
