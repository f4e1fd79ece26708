-- Which database this session is in, and as whom.
select
    current_database() as database,
    current_user as login
