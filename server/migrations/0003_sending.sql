-- Sending: prices, the credit ledger, idempotency keys, the outbox, and the tokens of forms.

-- Messages --------------------------------------------------------------------------------------------------------

alter table messages
  add column key_id uuid not null references api_keys,
  add column type text not null,
  add column template_id uuid references templates,
  add column reference text,
  add column credits int not null,
  -- The request, with its IDs resolved, as it is sent to the network.
  add column content json not null;
create index messages_by_key on messages (workspace_id, key_id, created_at, id);

-- The outbox ------------------------------------------------------------------------------------------------------
-- A row for each message whose result is not known yet:
--   waiting  not sent; due_at is the time of the next attempt
--   claimed  claimed by a worker and not sent; after due_at it counts as waiting again
--   calling  the request may have been sent; after due_at its result is unknown
--   unknown  it may have been sent, so it is never sent again; a status decides the result, or at due_at it fails
--   expired  not sent, and too late to send; it is about to fail
-- Every claim gets a new lease. A worker with an older lease can no longer write.

create table outbox (
  message_id uuid primary key references messages,
  workspace_id uuid not null,
  sender_id uuid not null references senders,
  recipient text not null,
  state text not null default 'waiting' check (state in ('waiting', 'claimed', 'calling', 'unknown', 'expired')),
  due_at timestamptz not null,
  -- No attempt starts after this time.
  expires_at timestamptz not null,
  attempts int not null default 0,
  lease uuid,
  last_error json
) with (fillfactor = 70);
create index outbox_waiting on outbox (sender_id, due_at, message_id) where state = 'waiting';
create index outbox_under_way on outbox (due_at) where state <> 'waiting';
create index outbox_expiring on outbox (expires_at) where state = 'waiting';
select wall_off('outbox', 'workspace_id');

-- The sending rate of a sender: each message moves the time of the next one by the interval between two messages.
create table sender_paces (
  sender_id uuid primary key references senders,
  workspace_id uuid not null,
  paced_until timestamptz not null
) with (fillfactor = 50);
select wall_off('sender_paces', 'workspace_id');

-- Senders, connections and apps that may not send for now, because the network asked for a pause.
create table sending_holds (
  subject_id uuid primary key,
  until timestamptz not null,
  -- Failures in a row. An accepted message ends the hold.
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
-- A message is charged once, and refunded at most once.
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

-- Prices of messages that do not cost 1 credit: by type (image), for templates also by category (template.MARKETING).
create table prices (
  item text primary key,
  credits int not null check (credits between 0 and 1000000)
);

-- Idempotency -----------------------------------------------------------------------------------------------------
-- Stored in the same transaction as the message. A rejected request stores nothing.

create table idempotency_keys (
  workspace_id uuid not null references workspaces,
  key_id uuid not null references api_keys,
  idempotency_key text not null,
  -- A digest of method, path and body.
  fingerprint bytea not null,
  -- The exact response body.
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
create index flow_tokens_by_token on flow_tokens (workspace_id, token, created_at);
select wall_off('flow_tokens', 'workspace_id');
