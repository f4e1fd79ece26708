"""The use-case floor: one transaction each. Nothing outside commits."""
