"""Kubernetes objects, and parts of them, that several targets share."""
