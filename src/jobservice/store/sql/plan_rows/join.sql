-- Whether what comes next in the transaction may join other than by hash.
select
    set_config('enable_nestloop', %(otherwise)s, true) as nested,
    set_config('enable_mergejoin', %(otherwise)s, true) as merged
