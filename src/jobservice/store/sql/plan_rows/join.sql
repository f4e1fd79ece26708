-- Whether what comes next in the transaction may join by nested loops.
select set_config('enable_nestloop', %(nested)s, true) as nested
