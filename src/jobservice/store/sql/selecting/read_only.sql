-- From here on the transaction reads.
select set_config('transaction_read_only', 'on', true) as read_only
