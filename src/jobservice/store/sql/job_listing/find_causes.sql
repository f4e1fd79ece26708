-- Causes of failures of a tenant whose text has any of some words in it, as it is written (no wildcards), capitals or
-- not; looked for among the latest `looked`, and at most one more than `most`.
select c.id::text as id
from (
    select
        c.id,
        c.text
    from jobs.job_causes as c
    where c.tenant = %(tenant)s
    order by c.id desc
    limit %(looked)s
) as c
where
    exists (
        select
        from unnest(%(words)s::text[]) as w (word)
        where strpos(lower(c.text), lower(w.word)) > 0
    )
order by c.id desc
limit %(most)s + 1
