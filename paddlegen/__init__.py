"""Compile PaddlePaddle job specs in Git into the manifests each cluster needs, and prove them."""

from paddlegen._version import __version__

__all__ = ["__version__"]
