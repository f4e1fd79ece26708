-- For this transaction: what is past its retention is read in the order of its index, a batch at a time, and never
-- collected and sorted whole for each batch.
select
    set_config('enable_bitmapscan', 'off', true) as bitmap,
    set_config('enable_sort', 'off', true) as sort
