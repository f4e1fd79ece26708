-- Spends a step once: no row where it, or a later one, was spent. A null step writes the row as it is, so that a code
-- that matched nothing costs what a right one costs.
update jobs.codes
set last_step = coalesce(%(step)s, last_step)
where person = %(person)s and last_step < coalesce(%(step)s, last_step + 1)
