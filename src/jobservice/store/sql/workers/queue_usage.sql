-- How full the server's queue of notifications is, from 0 to 1; answered, so the connection lives.
select pg_notification_queue_usage() as usage
