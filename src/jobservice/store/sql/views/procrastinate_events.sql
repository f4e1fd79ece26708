-- What procrastinate wrote down of each job, in its own order.
create view cross_job_events as
select
    s.application as family,
    v.job_id::text as job,
    s.tenant,
    v.id as sequence,
    v.at,
    case v.type::text
        when 'deferred' then 'submitted'
        when 'started' then 'step-started'
        when 'deferred_for_retry' then 'step-retrying'
        when 'abort_requested' then 'cancel-asked'
        when 'scheduled' then 'submitted'
        when 'retried' then 'retried'
        else 'settled'
    end as kind,
    null::text as step,
    null::text as status,
    null::integer as progress,
    case v.type::text
        when 'deferred' then 'Deferred.'
        when 'started' then 'A worker began it.'
        when 'deferred_for_retry' then 'The attempt failed and is to be tried again.'
        when 'failed' then 'It failed.'
        when 'succeeded' then 'It succeeded.'
        when 'cancelled' then 'It was cancelled before it began.'
        when 'abort_requested' then 'It was asked to end.'
        when 'aborted' then 'It was ended.'
        when 'scheduled' then 'It was put off to a later time.'
        when 'retried' then 'A person had it tried again.'
        else v.type::text
    end as sentence
from cross_job_source as s
cross join procrastinate_events as v
where v.at is not null
