-- Hear that there is work; the payload of a notification says of which kind.
listen jobs_work
