update messages set content_removed_at = pg_temp.at(5)
where id in (select id from messages where workspace_id = pg_temp.id('workspace', 1) order by id limit 1);
update inbound_messages set content_removed_at = pg_temp.at(5)
where id in (select id from inbound_messages where workspace_id = pg_temp.id('workspace', 2) order by id limit 1);
update flow_responses set content_removed_at = pg_temp.at(5)
where id in (select id from flow_responses where workspace_id = pg_temp.id('workspace', 1) order by id limit 1);

insert into content_removals (direction, position, began_at)
values ('sent', pg_temp.id('message', 1), pg_temp.at(4)), ('received', pg_temp.id('message', 2), pg_temp.at(5));

insert into erasures (id, workspace_id, asked_by, asked_at, number, user_id, numbers, user_ids, step_at, ended_at, removed)
values (pg_temp.id('erasure', 1), pg_temp.id('workspace', 1), 'ana@example.com', pg_temp.at(4), '16505550123', null,
    array['16505550123'], array['US.13491200000000000001'], pg_temp.at(5), null, '{"messages": 2}'),
  (pg_temp.id('erasure', 2), pg_temp.id('workspace', 2), 'command line (root)', pg_temp.at(4), null, 'US.13491200000000000002',
    null, null, pg_temp.at(5), null, '{}'),
  (pg_temp.id('erasure', 3), pg_temp.id('workspace', 2), 'bea@example.com', pg_temp.at(3), null, null, null, null,
    pg_temp.at(3), pg_temp.at(4), '{"messages": 5, "events": 9}');
