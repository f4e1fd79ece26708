-- Adds the record of an act.
insert into jobs.acts (item, tenant, person, use_case, outcome, sentence, inputs, money_version)
values (
    %(item)s::uuid, %(tenant)s, %(person)s, %(use_case)s, %(outcome)s, %(sentence)s, %(inputs)s, %(money_version)s
)
