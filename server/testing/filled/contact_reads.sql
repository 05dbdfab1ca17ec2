insert into contact_reads (workspace_id, person, read_at)
select pg_temp.id('workspace', w), '16505550123', pg_temp.at(1) from generate_series(1, 2) as w;
