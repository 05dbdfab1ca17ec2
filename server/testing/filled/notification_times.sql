insert into notification_times (workspace_id, kind, last_at, subject)
select pg_temp.id('workspace', w), 'webhook_failing', pg_temp.at(3), 'Shop' from generate_series(1, 2) as w;
