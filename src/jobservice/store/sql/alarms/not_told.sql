-- Keeps why an attempt to tell of an alarm failed; it is tried again.
update jobs.alarms as a
set told_words = %(words)s, version = a.version + 1
where a.id = %(id)s::uuid and a.telling = %(telling)s and a.tries = %(tries)s and a.told = 'waiting'
returning a.tenant
