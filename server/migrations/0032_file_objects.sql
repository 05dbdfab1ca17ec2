-- Files outside the database. The bytes of a file are in file_chunks, or in an object of the file store.

-- Objects that no file refers to, or not yet. One is noted here before it is written, and leaves in the statement that
-- makes a file refer to it. It comes back in the statement that makes that file refer to it no longer. So wherever a
-- process dies, an object either belongs to a file or is deleted after `delete_at`.
create table unused_objects (
  object_key text primary key,
  workspace_id uuid not null,
  delete_at timestamptz not null,
  -- Once this is true, no file can refer to the object any more.
  is_deleting boolean not null default false
);
create index unused_objects_due on unused_objects (delete_at);
select isolate_workspace('unused_objects', 'workspace_id');

-- step: transaction
-- Locks flow_files for a moment; neither column has a value yet.
alter table flow_files
  -- The object with the bytes. Null if they are in file_chunks.
  add column object_key text,
  -- Of that object, in hex.
  add column object_sha256 text;

-- A trigger, because processes of the version before also delete files, and do not know of objects. The object is kept for
-- ten minutes: if PostgreSQL fails over and loses this statement, the file still refers to it.
create function note_unused_object() returns trigger language plpgsql as $$
begin
  insert into unused_objects (object_key, workspace_id, delete_at)
  values (old.object_key, old.workspace_id, now() + interval '10 minutes')
  on conflict (object_key) do update set delete_at = excluded.delete_at;
  return null;
end $$;
create trigger note_unused_object after update on flow_files for each row
  when (old.object_key is not null and (new.object_key is distinct from old.object_key or new.state <> 'fetched'))
  execute function note_unused_object();
create trigger note_object_of_deleted after delete on flow_files for each row
  when (old.object_key is not null)
  execute function note_unused_object();

-- step: concurrently
create index concurrently flow_files_in_database on flow_files (fetched_at, id) where state = 'fetched' and object_key is null;

-- step: concurrently
create index concurrently flow_files_in_objects on flow_files (fetched_at, id) where state = 'fetched' and object_key is not null;
