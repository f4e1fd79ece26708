"""The engine that carries background jobs: a Worker's alone. `interpreter.py` runs a job's steps, `adapter*.py` know the
library that keeps them durable, and nobody else does. Never decides what a report means (`usecases/job_reports.py`).
"""
