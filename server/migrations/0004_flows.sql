-- Forms that people submitted, the files in them, and orders.

-- Forms -----------------------------------------------------------------------------------------------------------

-- A workspace may send one token to many people: the person comes before the time.
drop index flow_tokens_by_token;
create index flow_tokens_by_token on flow_tokens (workspace_id, token, recipient, created_at);

create table flow_responses (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  -- The message that the submission came as: one submission for each.
  message_id uuid not null unique references inbound_messages,
  sender_id uuid not null references senders,
  sent_by text,
  sent_by_user_id text,
  -- The network's word for the kind of form: flow, address_message.
  name text,
  flow_token text,
  -- The message that carried the form and what it was, as far as they could be traced.
  flow_id text,
  source_message_id uuid references messages,
  template_id uuid references templates,
  -- json, not jsonb: the answers stay in the order of the form.
  response json not null,
  received_at timestamptz not null,
  created_at timestamptz not null
);
create index flow_responses_by_workspace on flow_responses (workspace_id, created_at, id);
create index flow_responses_by_flow on flow_responses (workspace_id, flow_id, created_at, id);
create index flow_responses_by_person on flow_responses (workspace_id, sent_by, created_at, id);
select wall_off('flow_responses', 'workspace_id');

-- Files -----------------------------------------------------------------------------------------------------------
--   waiting   to be fetched from the network; due_at says when to try
--   fetching  a process has it; past due_at it is anybody's again
--   fetched   kept here, in the chunks that were written under the lease that content names
--   gone      it cannot be had any more; why says what became of it
-- The lease is another one with each claim: whoever holds an older one can no longer write.

create table flow_files (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  response_id uuid not null references flow_responses,
  index smallint not null,
  sender_id uuid not null references senders,
  field text not null,
  file_name text not null,
  mime_type text not null,
  -- Where the network has it, and what opens it; nothing once it is fetched or gone.
  source json,
  state text not null default 'waiting' check (state in ('waiting', 'fetching', 'fetched', 'gone')),
  due_at timestamptz not null,
  -- After this the network has it no more.
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
-- Pictures and documents do not shrink; compressing them would only cost.
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
  -- Prices in it are decimal strings, as the network wrote them.
  items json not null,
  -- The sum where every price and quantity is known and there is one currency, else null.
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
