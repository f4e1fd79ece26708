-- Keeps what an answer said that came too late to count; it changes nothing else.
insert into jobs.plan_evidence (tenant, plan, item, worker, fence, source, outcome, sentence, reference)
values (
    %(tenant)s, %(plan)s::uuid, %(item)s::uuid, %(worker)s, %(fence)s, %(source)s, %(outcome)s, %(sentence)s,
    %(reference)s
)
