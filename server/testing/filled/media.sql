insert into flow_files (id, workspace_id, message_id, index, sender_id, field, file_name, mime_type, source, due_at, try_until,
  created_at)
select pg_temp.id('media file', w), pg_temp.id('workspace', w), pg_temp.id('inbound 1', w), 0, pg_temp.id('sender', w),
  'media', 'image.jpg', 'image/jpeg', '{}', pg_temp.at(2), pg_temp.at(3), pg_temp.at(1)
from generate_series(1, 2) as w;

insert into flow_files (id, workspace_id, index, field, file_name, mime_type, state, due_at, try_until, content, size,
  chunk_bytes, content_type, fetched_at, sha256, expires_at, created_at)
select pg_temp.id('upload', w), pg_temp.id('workspace', w), 0, 'file', 'video.mp4', 'video/mp4', 'fetched', pg_temp.at(2),
  pg_temp.at(1), pg_temp.id('lease', w), 3, 1024, 'video/mp4', pg_temp.at(2), repeat('ab', 32), pg_temp.at(31), pg_temp.at(1)
from generate_series(1, 2) as w;

insert into network_media (file_id, sender_id, workspace_id, media_id, uploaded_at, lease, lease_until)
select pg_temp.id('upload', w), pg_temp.id('sender', w), pg_temp.id('workspace', w), '900000000000001', pg_temp.at(2),
  pg_temp.id('lease', w), pg_temp.at(2)
from generate_series(1, 2) as w;
