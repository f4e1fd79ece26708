"""The store floor: SQL, and nothing but SQL. Decides nothing, commits nothing; use cases above it do."""
