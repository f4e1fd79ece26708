"""The job service: an API process and a Worker process on PostgreSQL. Never imports the console."""

__version__ = "0.1.0"
