"""The ground both houses stand on: ids, money, states, permissions, errors, wire models and routes.

Owns the words that console and service must agree on. Never imports either of them, never does I/O.
"""
