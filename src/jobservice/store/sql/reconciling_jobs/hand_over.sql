-- Hands a job over to the engine, in this transaction.
select jobs.hand_over(%(family)s, %(job)s::uuid)
