-- Keeps what a person says became of an uncertain payout; the Worker writes the outcome (MONEY.md 5, 19).
insert into jobs.plan_evidence (tenant, plan, item, source, person, outcome, sentence, reference)
values (
    %(tenant)s, %(plan)s::uuid, %(item)s::uuid, 'person', %(person)s, %(outcome)s, %(sentence)s, %(reference)s
)
