insert into message_hours (workspace_id, hour, sent, delivered, read, failed)
select pg_temp.id('workspace', w), pg_temp.at(5), 1, 2, 3, 4 from generate_series(1, 2) as w;

insert into message_hour_changes (workspace_id, hour, sent, delivered, read, failed)
select pg_temp.id('workspace', w), pg_temp.at(5), -1, 1, 0, 0 from generate_series(1, 2) as w;
