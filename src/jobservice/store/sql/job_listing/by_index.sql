-- How the statements of listings are planned, until the transaction ends: once, and by walks of indexes.
select
    set_config('plan_cache_mode', 'force_generic_plan', true) as plans,
    set_config('enable_seqscan', 'off', true) as scans,
    set_config('enable_sort', 'off', true) as sorts
