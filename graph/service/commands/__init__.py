"""The commands, a module for each kind. A new one is a module with an `app`, and its name in cli.py."""
