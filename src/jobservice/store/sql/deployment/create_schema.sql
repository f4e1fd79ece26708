-- Everything of the service stands in this schema, the version table before all else.
do $$
begin
    if to_regnamespace('jobs') is null then
        create schema jobs;
    end if;
end
$$;
