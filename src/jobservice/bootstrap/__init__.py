"""The roof of the service: one wiring file a process (api, worker, dev), by hand. Decides nothing about items."""
