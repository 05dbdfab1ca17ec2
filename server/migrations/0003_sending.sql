-- Sending: what a message costs, the ledger, idempotency, the outbox, and the tokens of forms.

-- Messages --------------------------------------------------------------------------------------------------------

alter table messages
  add column key_id uuid not null references api_keys,
  add column type text not null,
  add column template_id uuid references templates,
  add column reference text,
  add column credits int not null,
  -- What the network is asked for: the request, and what its ids stand for.
  add column content json not null;
create index messages_by_key on messages (workspace_id, key_id, created_at, id);

-- The outbox ------------------------------------------------------------------------------------------------------
-- A row for each message whose sending is not settled:
--   waiting  nothing has left; due_at says when to try
--   claimed  a process has it and nothing has left; past due_at it is waiting again
--   calling  the call may have left; past due_at nobody knows what became of it
--   unknown  it may have been sent, so it is never sent again; a status settles it, or at due_at it is given up
--   expired  nothing has left, and it is too late now: about to be given up
-- The lease is another one with each claim: whoever holds an older one can no longer write.

create table outbox (
  message_id uuid primary key references messages,
  workspace_id uuid not null,
  sender_id uuid not null references senders,
  recipient text not null,
  state text not null default 'waiting' check (state in ('waiting', 'claimed', 'calling', 'unknown', 'expired')),
  due_at timestamptz not null,
  -- After this it is not tried any more.
  expires_at timestamptz not null,
  attempts int not null default 0,
  lease uuid,
  last_error json
) with (fillfactor = 70);
create index outbox_waiting on outbox (sender_id, due_at, message_id) where state = 'waiting';
create index outbox_under_way on outbox (due_at) where state <> 'waiting';
create index outbox_expiring on outbox (expires_at) where state = 'waiting';
select wall_off('outbox', 'workspace_id');

-- How far a sender has used up what it may send: each message moves it on by the time that one message takes.
create table sender_paces (
  sender_id uuid primary key references senders,
  workspace_id uuid not null,
  paced_until timestamptz not null
) with (fillfactor = 50);
select wall_off('sender_paces', 'workspace_id');

-- What has to wait because the network said so: a sender, a connection or an app.
create table sending_holds (
  subject_id uuid primary key,
  until timestamptz not null,
  -- In a row; a message that is taken ends the hold.
  failures int not null,
  error json not null
);

-- Credits ---------------------------------------------------------------------------------------------------------

create table credit_balances (
  workspace_id uuid primary key references workspaces,
  balance bigint not null check (balance >= 0)
) with (fillfactor = 50);
select wall_off('credit_balances', 'workspace_id');

create table credit_entries (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  kind text not null check (kind in ('grant', 'debit', 'refund', 'adjust')),
  amount bigint not null check (amount <> 0),
  balance_after bigint not null check (balance_after >= 0),
  message_id uuid,
  note text,
  created_at timestamptz not null,
  check ((kind in ('debit', 'refund')) = (message_id is not null)),
  check (kind = 'adjust' or (kind = 'debit') = (amount < 0))
);
create index credit_entries_by_workspace on credit_entries (workspace_id, created_at, id);
-- A message is paid for once, and gives its credits back once.
create unique index credit_entries_by_message on credit_entries (message_id, kind) where message_id is not null;
select wall_off('credit_entries', 'workspace_id');

create function keep_for_ever() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger keep_for_ever before update or delete on credit_entries
  for each row execute function keep_for_ever();
create trigger keep_all_for_ever before truncate on credit_entries
  for each statement execute function keep_for_ever();

-- What a message costs where it is not 1: by type (image), for templates by category too (template.MARKETING).
create table prices (
  item text primary key,
  credits int not null check (credits between 0 and 1000000)
);

-- Idempotency -----------------------------------------------------------------------------------------------------
-- Stored with the message it made; a request that was refused leaves nothing.

create table idempotency_keys (
  workspace_id uuid not null references workspaces,
  key_id uuid not null references api_keys,
  idempotency_key text not null,
  -- Of method, path and body.
  fingerprint bytea not null,
  -- The answer's body, byte for byte.
  answer text not null,
  created_at timestamptz not null,
  primary key (workspace_id, key_id, idempotency_key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
select wall_off('idempotency_keys', 'workspace_id');

create table idempotency_days (
  workspace_id uuid not null references workspaces,
  day date not null,
  used int not null,
  primary key (workspace_id, day)
) with (fillfactor = 50);
select wall_off('idempotency_days', 'workspace_id');

-- Forms -----------------------------------------------------------------------------------------------------------
-- Which message carried a form, by the token that comes back with the submission.

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
create index flow_tokens_by_token on flow_tokens (workspace_id, token, created_at);
select wall_off('flow_tokens', 'workspace_id');
