"""The example's bank: a small program of its own that stands outside the service, and the way to it.

`python -m examples.payments.bank --ledger FILE` is the bank: it books payments in its own file and can be told to
behave badly. `outward` is what the use cases call; it meets the bank over HTTP alone, never through this package.
"""
