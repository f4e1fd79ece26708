-- The database of an embedded server.
create database jobs owner jobs_owner;
