"""The version, a literal so that `paddlegen --version` imports nothing."""

__version__ = "0.1.0"
