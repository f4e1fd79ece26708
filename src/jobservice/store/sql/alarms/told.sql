-- Keeps what became of a message about an alarm: sent, or given up, and why; and what is to be told next, if anything
-- happened to it meanwhile.
with after as (
    select
        a.id,
        case
            when a.telling = 'opened' and a.acknowledged_at is not null then 'acknowledged'
            when a.telling <> 'cleared' and a.cleared_at is not null then 'cleared'
        end as next
    from jobs.alarms as a
    where a.id = %(id)s::uuid and a.telling = %(telling)s and a.tries = %(tries)s and a.told = 'waiting'
    for update
)

update jobs.alarms as a
set
    told = case when n.next is null then %(outcome)s else 'waiting' end,
    telling = coalesce(n.next, a.telling),
    told_at = case when %(outcome)s = 'sent' then jobs.now() else a.told_at end,
    told_words = %(words)s,
    tell_at = case when n.next is null then null else jobs.now() end,
    tries = case when n.next is null then a.tries else 0 end,
    version = a.version + 1
from after as n
where a.id = n.id
returning a.tenant
