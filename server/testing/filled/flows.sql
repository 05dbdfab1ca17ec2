insert into flow_responses (id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id, name, flow_token, flow_id,
  source_message_id, template_id, response, received_at, created_at)
select pg_temp.id('response', w), pg_temp.id('workspace', w), pg_temp.id('inbound 1', w), pg_temp.id('sender', w),
  '16505550123', 'user', 'flow', 'token', 'flow', pg_temp.id('message 1', w), pg_temp.id('template', w), '{}',
  pg_temp.at(1), pg_temp.at(1)
from generate_series(1, 2) as w;

-- File 0 is waiting, 1 is fetched, 2 is gone.
insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, source, state,
  due_at, try_until, lease, last_error, why, content, size, chunk_bytes, content_type, fetched_at, created_at)
select pg_temp.id('file ' || n, w), pg_temp.id('workspace', w), pg_temp.id('response', w), n, pg_temp.id('sender', w),
  'photo', 'cat.png', 'image/png', '{}', (array['waiting', 'fetched', 'gone'])[n + 1], pg_temp.at(2), pg_temp.at(3),
  pg_temp.id('lease', w), 'timeout', case n when 2 then 'expired' end, pg_temp.id('lease', w), 3, 1024, 'image/png',
  pg_temp.at(2), pg_temp.at(1)
from generate_series(1, 2) as w, generate_series(0, 2) as n;

insert into file_chunks (file_id, lease, number, workspace_id, bytes)
select pg_temp.id('file 1', w), pg_temp.id('lease', w), 0, pg_temp.id('workspace', w), '\x010203'
from generate_series(1, 2) as w;

insert into orders (id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id, profile_name, catalog_id, note,
  items, total, currency, received_at, created_at, updated_at)
select pg_temp.id('order', w), pg_temp.id('workspace', w), pg_temp.id('inbound 2', w), pg_temp.id('sender', w),
  '16505550123', 'user', 'Ana', 'catalog', 'please', '[]', 9.90, 'EUR', pg_temp.at(1), pg_temp.at(1), pg_temp.at(2)
from generate_series(1, 2) as w;

insert into order_changes (id, order_id, workspace_id, old_status, new_status, changed_by, changed_at)
select pg_temp.id('order change', w), pg_temp.id('order', w), pg_temp.id('workspace', w), 'new', 'confirmed',
  'ada@example.com', pg_temp.at(2)
from generate_series(1, 2) as w;
