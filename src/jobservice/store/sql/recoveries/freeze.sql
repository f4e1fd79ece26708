-- Writes what a recovery was frozen as: its rows are there, and its digest was computed over them.
update jobs.recoveries as r set
    edition = r.edition + %(raised)s,
    version = r.version + %(raised)s,
    digest = %(digest)s,
    money = %(money)s,
    moves = %(moves)s,
    left_out = %(left_out)s,
    schedules = %(schedules)s,
    count = %(count)s,
    frozen_at = %(now)s,
    valid_until = %(until)s
where r.tenant = %(tenant)s and r.id = %(recovery)s::uuid
returning r.version
