"""How fast paddlegen is on this machine: `python -m tests.bench`."""
