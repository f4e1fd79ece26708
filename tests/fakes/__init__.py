"""Stand-ins that several tests use. Never a stand-in for PostgreSQL: that is always real."""
