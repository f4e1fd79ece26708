"""The rules floor: pure decisions over plain values. No I/O, no clock, no SQL; `records` builds the values."""
