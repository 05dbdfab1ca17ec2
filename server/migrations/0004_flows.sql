-- Submitted forms, their files, and orders.

-- Forms -----------------------------------------------------------------------------------------------------------

-- A workspace may send the same token to many people, so the recipient comes before the time.
drop index flow_tokens_by_token;
create index flow_tokens_by_token on flow_tokens (workspace_id, token, recipient, created_at);

create table flow_responses (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  -- The inbound message that contained the submission. A message has at most one.
  message_id uuid not null unique references inbound_messages,
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
  created_at timestamptz not null
);
create index flow_responses_by_workspace on flow_responses (workspace_id, created_at, id);
create index flow_responses_by_flow on flow_responses (workspace_id, flow_id, created_at, id);
create index flow_responses_by_person on flow_responses (workspace_id, sent_by, created_at, id);
select wall_off('flow_responses', 'workspace_id');

-- Files -----------------------------------------------------------------------------------------------------------
--   waiting   not downloaded yet; due_at is the time of the next attempt
--   fetching  a worker downloads it; after due_at other workers may claim it
--   fetched   stored in file_chunks, in the chunks with the lease in content
--   gone      it cannot be downloaded any more; why has the reason
-- Every claim gets a new lease. A worker with an older lease can no longer write.

create table flow_files (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  response_id uuid not null references flow_responses,
  index smallint not null,
  sender_id uuid not null references senders,
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
  why text check ((state = 'gone') = (why is not null)),
  content uuid,
  size bigint,
  chunk_bytes int,
  content_type text,
  fetched_at timestamptz,
  created_at timestamptz not null,
  unique (response_id, index)
) with (fillfactor = 80);
create index flow_files_due on flow_files (due_at, id) where state in ('waiting', 'fetching');
create index flow_files_by_age on flow_files (fetched_at) where state = 'fetched';
select wall_off('flow_files', 'workspace_id');

create table file_chunks (
  file_id uuid not null references flow_files,
  lease uuid not null,
  number int not null,
  workspace_id uuid not null,
  bytes bytea not null,
  primary key (file_id, lease, number)
);
-- Images and documents are compressed already, so PostgreSQL need not try.
alter table file_chunks alter column bytes set storage external;
select wall_off('file_chunks', 'workspace_id');

-- Orders ----------------------------------------------------------------------------------------------------------

create table orders (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  message_id uuid not null unique references inbound_messages,
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
select wall_off('orders', 'workspace_id');

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
select wall_off('order_changes', 'workspace_id');
create trigger keep_for_ever before update or delete on order_changes
  for each row execute function keep_for_ever();
