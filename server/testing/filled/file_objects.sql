-- File 3 of each form is in the file store.
insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, state, due_at,
  try_until, content, size, chunk_bytes, content_type, fetched_at, created_at, object_key, object_sha256)
select pg_temp.id('file 3', w), pg_temp.id('workspace', w), pg_temp.id('response', w), 3, pg_temp.id('sender', w),
  'photo', 'dog.png', 'image/png', 'fetched', pg_temp.at(2), pg_temp.at(3), pg_temp.id('content', w), 3, 1024,
  'image/png', pg_temp.at(2), pg_temp.at(1), 'files/' || pg_temp.id('object', w), repeat('ab', 32)
from generate_series(1, 2) as w;

insert into unused_objects (object_key, workspace_id, delete_at, is_deleting)
select 'files/' || pg_temp.id('unused object', w), pg_temp.id('workspace', w), pg_temp.at(3), w = 2
from generate_series(1, 2) as w;
