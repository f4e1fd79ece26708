-- Hear of new hints; the payload of a notification is the tenant alone (case PG-01).
listen jobs_hints
