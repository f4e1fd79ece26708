"""Other queues, each run as its own documentation says it runs best, in an environment of its own. They import nothing of
ours, and nothing of ours imports them: `benchmarks/queues.py` starts them as programs."""
