"""Nouns: the values that travel through paddlegen.  Behaviour lives elsewhere."""
