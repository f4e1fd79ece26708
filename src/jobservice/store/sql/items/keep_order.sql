-- Until the transaction ends, rows in an order are walked by an index rather than read whole and sorted: a filter is
-- guessed to leave few rows, and mostly leaves many.
select set_config('enable_sort', 'off', true) as sorts
