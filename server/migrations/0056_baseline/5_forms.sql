-- Submitted forms, orders, and files: those of forms and of inbound messages, and uploads.

-- Maps the token of a form to the message that carried it. The submission contains the token.
create table flow_tokens (
  message_id uuid primary key references messages,
  workspace_id uuid not null,
  sender_id uuid not null references senders,
  recipient text not null,
  token text not null,
  template_id uuid references templates,
  flow_id text,
  created_at timestamptz not null
);
-- A workspace may send the same token to many people, so the recipient comes before the time.
create index flow_tokens_by_token on flow_tokens (workspace_id, token, recipient, created_at);
select isolate_workspace('flow_tokens', 'workspace_id');

create table flow_responses (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  -- The inbound message that contained the submission. A message has at most one.
  message_id uuid not null unique,
  sender_id uuid not null references senders,
  sent_by text,
  sent_by_user_id text,
  -- The network's name for the kind of form: flow, address_message.
  name text,
  flow_token text,
  -- The form and the message that carried it, if they could be found.
  flow_id text,
  source_message_id uuid references messages,
  template_id uuid references templates,
  -- json, not jsonb, to keep the order of the fields in the form.
  response json not null,
  received_at timestamptz not null,
  created_at timestamptz not null,
  -- When the content was removed: response is {} then.
  content_removed_at timestamptz
);
create index flow_responses_by_workspace on flow_responses (workspace_id, created_at, id);
create index flow_responses_by_flow on flow_responses (workspace_id, flow_id, created_at, id);
create index flow_responses_by_person on flow_responses (workspace_id, sent_by, created_at, id);
create index flow_responses_by_words on flow_responses using gin (search_vector(workspace_id,
    searched_text(response, flow_token), null::text, null::text));
select isolate_workspace('flow_responses', 'workspace_id');

create table orders (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  message_id uuid not null unique,
  sender_id uuid not null references senders,
  sent_by text,
  sent_by_user_id text,
  profile_name text,
  catalog_id text,
  note text,
  -- Prices are decimal strings, as the network sent them.
  items json not null,
  -- The sum if every price and quantity is known and there is one currency, otherwise null.
  total numeric,
  currency text,
  status text not null default 'new' check (status in ('new', 'confirmed', 'shipped', 'done', 'cancelled')),
  received_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index orders_by_workspace on orders (workspace_id, created_at, id);
create index orders_by_status on orders (workspace_id, status, created_at, id);
create index orders_by_person on orders (workspace_id, sent_by, created_at, id);
create index orders_by_words on orders using gin (search_vector(workspace_id, searched_text(note, items, total,
    currency), null::text, null::text));
select isolate_workspace('orders', 'workspace_id');

create table order_changes (
  id uuid primary key,
  order_id uuid not null references orders,
  workspace_id uuid not null,
  old_status text not null,
  new_status text not null,
  changed_by text not null,
  changed_at timestamptz not null
);
create index order_changes_by_order on order_changes (order_id, changed_at, id);
select isolate_workspace('order_changes', 'workspace_id');
create trigger keep_for_ever before delete or update on order_changes for each row execute function keep_for_ever();

-- Every file has a row here and its bytes in file_chunks, or in an object of the file store. The file of a form has a
-- response_id, that of an inbound message a message_id, an upload expires_at.
--   waiting   not downloaded yet; due_at is the time of the next attempt
--   fetching  a worker downloads it; after due_at other workers may claim it
--   fetched   stored; content is the lease of its chunks
--   gone      it cannot be downloaded any more; why has the reason
-- Every claim gets a new lease. A worker with an older lease can no longer write. An upload that is being received is
-- fetching; as its try_until is past, a process that claims it after its lease has ended gives it up and deletes its
-- chunks.
create table flow_files (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  response_id uuid references flow_responses,
  index smallint not null,
  sender_id uuid references senders,
  field text not null,
  file_name text not null,
  mime_type text not null,
  -- The location in the network and the decryption keys. Null once the file is fetched or gone.
  source json,
  state text not null default 'waiting' check (state in ('waiting', 'fetching', 'fetched', 'gone')),
  due_at timestamptz not null,
  -- After this time the network no longer has the file.
  try_until timestamptz not null,
  attempts int not null default 0,
  lease uuid,
  last_error text,
  why text,
  content uuid,
  size bigint,
  chunk_bytes int,
  content_type text,
  fetched_at timestamptz,
  created_at timestamptz not null,
  -- The object with the bytes. Null if they are in file_chunks.
  object_key text,
  -- Of that object, in hex.
  object_sha256 text,
  -- The inbound message. No foreign key may refer to inbound_messages.
  message_id uuid,
  -- In hex; of uploads only.
  sha256 text,
  expires_at timestamptz,
  check ((state = 'gone') = (why is not null)),
  unique (response_id, index),
  constraint flow_files_belong check (num_nonnulls(response_id, message_id, expires_at) = 1)
) with (fillfactor = 80);
-- Files are claimed from every workspace in turn.
create index flow_files_due_by_workspace on flow_files (workspace_id, due_at, id)
  where state in ('waiting', 'fetching');
create index flow_files_in_database on flow_files (fetched_at, id) where state = 'fetched' and object_key is null;
create index flow_files_in_objects on flow_files (fetched_at, id) where state = 'fetched' and object_key is not null;
create unique index flow_files_by_message on flow_files (message_id) where message_id is not null;
create index flow_files_by_expiry on flow_files (state, expires_at) where expires_at is not null;
-- Uploads have their own retention.
create index flow_files_received_by_age on flow_files (fetched_at) where state = 'fetched' and expires_at is null;
-- How much each workspace has stored.
create index flow_files_stored on flow_files (workspace_id) include (id, size) where state in ('fetching', 'fetched');
select isolate_workspace('flow_files', 'workspace_id');

-- A trigger, so that no statement can forget it. The object is kept for ten minutes: if PostgreSQL fails over and loses
-- the statement, the file still refers to it.
create function note_unused_object() returns trigger language plpgsql as $$
begin
  insert into unused_objects (object_key, workspace_id, delete_at)
  values (old.object_key, old.workspace_id, now() + interval '10 minutes')
  on conflict (object_key) do update set delete_at = excluded.delete_at;
  return null;
end $$;
create trigger note_unused_object after update on flow_files
  for each row when (old.object_key is not null and (new.object_key is distinct from old.object_key
    or new.state <> 'fetched'))
  execute function note_unused_object();
create trigger note_object_of_deleted after delete on flow_files
  for each row when (old.object_key is not null) execute function note_unused_object();

-- Images and documents are compressed already, so PostgreSQL need not try: the storage is external.
create table file_chunks (
  file_id uuid not null references flow_files,
  lease uuid not null,
  number int not null,
  workspace_id uuid not null,
  bytes bytea not null,
  primary key (file_id, lease, number)
);
alter table file_chunks alter column bytes set storage external;
select isolate_workspace('file_chunks', 'workspace_id');

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

-- The network's IDs of uploads: a number can only send what was uploaded for it. One process at a time uploads, until
-- lease_until.
create table network_media (
  file_id uuid not null references flow_files,
  sender_id uuid not null references senders,
  workspace_id uuid not null references workspaces,
  media_id text,
  uploaded_at timestamptz,
  lease uuid,
  lease_until timestamptz not null,
  primary key (file_id, sender_id)
);
select isolate_workspace('network_media', 'workspace_id');
