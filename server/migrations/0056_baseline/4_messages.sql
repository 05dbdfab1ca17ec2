-- Messages in and out, sending them, and the credits that they cost.

-- Messages that were sent with the keys of a workspace or from the console. No index may contain a column that the
-- statuses delivered and read change: then PostgreSQL updates the row without touching the indexes
-- (docs/project/decisions/statuses.md). The fillfactor leaves space for that in each page.
create table messages (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  sender_id uuid not null references senders,
  -- The phone number that it is sent to, or the user ID if it is sent to that. A number has only digits, a user ID
  -- starts with letters. The same in outbox and flow_tokens.
  recipient text not null,
  status text not null default 'queued',
  wa_message_id text,
  error json,
  created_at timestamptz not null,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz,
  -- Null: it was sent from the console, and no key can read it.
  key_id uuid references api_keys,
  type text not null,
  template_id uuid references templates,
  reference text,
  credits int not null,
  -- The request, with its IDs resolved, as it is sent to the network.
  content json not null,
  -- The API request that created it; null if it was not sent through the API.
  request_id uuid,
  -- The email address of the person who sent it.
  sent_by text,
  quoted_wa_message_id text,
  -- The recipient's user ID: the request names it, or a status reports it.
  recipient_user_id text,
  -- How the network billed it: {category, type, model}.
  pricing json,
  -- When the content was removed: content is {"request": null} then. For an erased person, recipient is empty, and the
  -- network's ID, which contains the number, is replaced by "erased:" and our ID.
  content_removed_at timestamptz,
  -- The trace that its request belongs to, if the client sent one (docs/project/decisions/tracing.md).
  traceparent text,
  check ((key_id is null) = (sent_by is not null))
) with (fillfactor = 70);
create unique index messages_by_wa_id on messages (sender_id, wa_message_id) where wa_message_id is not null;
create index messages_by_key on messages (workspace_id, key_id, created_at, id);
-- For filters in addition to the time. Frequent values are found soon by time; rare values need their own index.
create index messages_by_person on messages (workspace_id, recipient, created_at, id);
create index messages_by_template on messages (workspace_id, template_id, created_at, id)
  where template_id is not null;
create index messages_by_reference on messages (workspace_id, reference, created_at, id) where reference is not null;
create index messages_by_rare_type on messages (workspace_id, type, created_at, id)
  where type not in ('text', 'template');
create index messages_by_quoted on messages (sender_id, quoted_wa_message_id) where quoted_wa_message_id is not null;
create index messages_by_time on messages (workspace_id, created_at, id);
-- A message is queued until the network has given it an ID or it has failed.
create index messages_queued on messages (workspace_id, created_at, id)
  where wa_message_id is null and failed_at is null;
-- A few of these were delivered after all.
create index messages_failed on messages (workspace_id, created_at, id) where failed_at is not null;
-- Begins with the workspace, so that PostgreSQL never uses it to find a message by WhatsApp's ID.
create index messages_of_sender on messages (workspace_id, sender_id, created_at, id);
create index messages_by_words on messages using gin (search_vector(workspace_id, searched_text(type, content,
    reference), null::text, recipient)) with (gin_pending_list_limit = 65536);
select isolate_workspace('messages', 'workspace_id');

create function count_message_statuses() returns trigger language plpgsql as $$
begin
  insert into message_hour_changes (workspace_id, hour, sent, delivered, read, failed)
  select * from (
    select workspace_id, date_trunc('hour', created_at, 'UTC') as hour,
      coalesce(sum(change) filter (where status = 'sent'), 0) as sent,
      coalesce(sum(change) filter (where status = 'delivered'), 0) as delivered,
      coalesce(sum(change) filter (where status = 'read'), 0) as read,
      coalesce(sum(change) filter (where status = 'failed'), 0) as failed
    from (
      select workspace_id, created_at, status, 1 as change from changed_to
      union all
      select workspace_id, created_at, status, -1 from changed_from
    ) as each group by 1, 2
  ) as counts where (sent, delivered, read, failed) <> (0, 0, 0, 0);
  return null;
end $$;
create trigger count_message_statuses after update on messages
  referencing old table as changed_from new table as changed_to
  for each statement execute function count_message_statuses();

-- The status history of a message, each status once. No foreign key: it would lock the message for each status.
create table message_statuses (
  message_id uuid not null,
  workspace_id uuid not null,
  status text not null,
  occurred_at timestamptz not null,
  error json,
  primary key (message_id, status)
);
select isolate_workspace('message_statuses', 'workspace_id');

-- Statuses of messages with an unknown ID. The response to the send request may still be on its way.
create table early_statuses (
  sender_id uuid not null references senders,
  workspace_id uuid not null,
  wa_message_id text not null,
  status text not null,
  occurred_at timestamptz not null,
  error json,
  recorded_at timestamptz not null,
  recipient_user_id text,
  pricing json,
  primary key (sender_id, wa_message_id, status)
);
create index early_statuses_by_age on early_statuses (recorded_at);
select isolate_workspace('early_statuses', 'workspace_id');

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
select isolate_workspace('outbox', 'workspace_id');

-- The sending rate of a sender: each message moves the time of the next one by the interval between two messages.
create table sender_paces (
  sender_id uuid primary key references senders,
  workspace_id uuid not null,
  paced_until timestamptz not null
) with (fillfactor = 50);
select isolate_workspace('sender_paces', 'workspace_id');

-- Senders, connections and apps that may not send for now, because the network asked for a pause.
create table sending_holds (
  subject_id uuid primary key,
  until timestamptz not null,
  -- Failures in a row. An accepted message ends the hold.
  failures int not null,
  error json not null
);

-- Stored in the same transaction as the message. A rejected request stores nothing. key_id is the first key of a chain
-- of rotations.
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
select isolate_workspace('idempotency_keys', 'workspace_id');

create table idempotency_days (
  workspace_id uuid not null references workspaces,
  day date not null,
  used int not null,
  primary key (workspace_id, day)
) with (fillfactor = 50);
select isolate_workspace('idempotency_days', 'workspace_id');

-- Messages sent to the numbers of a workspace. Each is stored once, however often the network repeats its webhook.
-- Older ones are moved to tables that inherit from it, so that the indexes that every new message changes fit into
-- memory (docs/project/decisions/partitions.md). No foreign key may refer to it, and it has none: checking them took a quarter
-- of the time of an insert.
create table inbound_messages (
  id uuid primary key,
  workspace_id uuid not null,
  sender_id uuid not null,
  wa_message_id text not null,
  sent_by text,
  sent_by_user_id text,
  type text not null,
  received_at timestamptz not null,
  recorded_at timestamptz not null,
  profile_name text,
  -- The parsed content: text, file, location, form, cart.
  content json not null,
  -- The message that a message quotes. A column, because an index on a JSON field has to parse every message, even if
  -- it quotes none.
  quoted_wa_message_id text,
  -- When the content was removed: content is {} then, and the profile name is null. For an erased person, sent_by and
  -- sent_by_user_id are null.
  content_removed_at timestamptz,
  unique (sender_id, wa_message_id)
);
create index inbound_messages_by_workspace on inbound_messages (workspace_id, recorded_at, id);
create index inbound_messages_by_person on inbound_messages (workspace_id, sent_by, recorded_at, id);
create index inbound_messages_by_sender on inbound_messages (sender_id, recorded_at, id);
create index inbound_messages_by_quoted on inbound_messages (sender_id, quoted_wa_message_id)
  where quoted_wa_message_id is not null;
-- For the conversation with a person without a number.
create index inbound_messages_by_user_id on inbound_messages (workspace_id, sent_by_user_id, recorded_at, id)
  where sent_by is null;
-- The types that an inbound message rarely has, for the filter by type.
create index inbound_messages_by_type on inbound_messages (workspace_id, type, recorded_at, id) where type <> 'text';
-- Lists are in the order of recording. This has the messages that were recorded long after they were sent, or before,
-- so that a range of received_at is also a range of recorded_at for all others.
create index inbound_messages_untimely on inbound_messages (workspace_id, recorded_at, id)
  where not ((recorded_at - received_at) >= interval '-01:00:00'
    and (recorded_at - received_at) <= interval '01:00:00');
create index inbound_messages_by_words on inbound_messages using gin (search_vector(workspace_id,
    searched_text(type, content), profile_name, sent_by)) with (gin_pending_list_limit = 65536);
select isolate_workspace('inbound_messages', 'workspace_id');

-- A table for older messages, empty at first. Its indexes are those of inbound_messages, but none is unique: whether a
-- message is new was decided when it was received. Attaching it blocks neither readers nor writers. Longer than the
-- second after which PostgreSQL cancels an automatic vacuum that is in the way.
create function add_older_inbound_messages() returns void language plpgsql set lock_timeout = '3s' as $$
declare
  older text;
  definition text;
begin
  select 'inbound_messages_older_' || coalesce(max(substring(relname from '\d+$')::int), 0) + 1 into older
    from pg_class where relname ~ '^inbound_messages_older_\d+$' and relnamespace = current_schema()::regnamespace
      and relkind = 'r';
  execute format('create table %I (like inbound_messages including all excluding indexes)', older);
  for definition in
    select pg_get_indexdef(indexrelid) from pg_index where indrelid = 'inbound_messages'::regclass and indisvalid
  loop
    execute regexp_replace(definition, '^CREATE (UNIQUE )?INDEX \S+ ON (ONLY )?\S+ USING', format('create index on %I using', older));
  end loop;
  perform only_through_whole(older::regclass);
  execute format('alter table %I inherit inbound_messages', older);
end $$;

-- A row is deleted when the network has accepted or refused it. A process that calls the network has its lease; when
-- due_at has passed, another process may call again. Marking a message as read twice does no harm.
create table read_receipts (
  message_id uuid primary key,
  workspace_id uuid not null,
  sender_id uuid not null,
  wa_message_id text not null,
  -- Also show that the business is typing.
  typing boolean not null,
  requested_at timestamptz not null,
  due_at timestamptz not null,
  attempts int not null default 0,
  lease uuid
) with (fillfactor = 70);
create index read_receipts_due on read_receipts (sender_id, due_at, message_id);
select isolate_workspace('read_receipts', 'workspace_id');

-- How many messages of a workspace that were created in an hour (UTC) have which status now. Queued ones are not
-- counted.
create table message_hours (
  workspace_id uuid not null,
  hour timestamptz not null,
  sent int not null,
  delivered int not null,
  read int not null,
  failed int not null,
  primary key (workspace_id, hour)
) with (fillfactor = 50);
select isolate_workspace('message_hours', 'workspace_id');

-- What changes these counts, and is not added to them yet. Transactions only insert here, so that none waits for
-- another that counts the same hour.
create table message_hour_changes (
  workspace_id uuid not null,
  hour timestamptz not null,
  sent int not null,
  delivered int not null,
  read int not null,
  failed int not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index message_hour_changes_by_hour on message_hour_changes (workspace_id, hour);
select isolate_workspace('message_hour_changes', 'workspace_id');

create table credit_balances (
  workspace_id uuid primary key references workspaces,
  balance bigint not null check (balance >= 0)
) with (fillfactor = 50);
select isolate_workspace('credit_balances', 'workspace_id');

-- It reads one row of workspaces for each workspace of a batch of messages, and takes no lock.
create function notify_low_credits() returns trigger language plpgsql as $$
declare
  mark bigint := (select low_balance from workspaces where id = new.workspace_id);
begin
  if new.balance <= mark and old.balance > mark then
    insert into notifications (workspace_id, kind, data)
    values (new.workspace_id, 'credits_low', json_build_object('balance', new.balance, 'threshold', mark));
  end if;
  return null;
end $$;
create trigger notify_low_credits after update on credit_balances
  for each row when (new.balance < old.balance) execute function notify_low_credits();

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
create index credit_entries_by_rare_kind on credit_entries (workspace_id, kind, created_at, id) where kind <> 'debit';
select isolate_workspace('credit_entries', 'workspace_id');
create trigger keep_for_ever before delete or update on credit_entries for each row execute function keep_for_ever();
create trigger keep_all_for_ever before truncate on credit_entries
  for each statement execute function keep_for_ever();

-- Credits spent and refunded per day in UTC, updated with every ledger entry.
create table credit_days (
  workspace_id uuid not null references workspaces,
  day date not null,
  spent bigint not null,
  refunded bigint not null,
  primary key (workspace_id, day)
) with (fillfactor = 50);
select isolate_workspace('credit_days', 'workspace_id');

-- The sum of a workspace's credit entries before a time, so that the next check of the ledger reads only later ones.
create table credit_checks (
  workspace_id uuid primary key,
  checked_until timestamptz not null,
  entered bigint not null
);
select isolate_workspace('credit_checks', 'workspace_id');

-- Prices of messages that do not cost 1 credit: by type (image), for templates also by category (template.MARKETING).
create table prices (
  item text primary key,
  credits int not null check (credits >= 0 and credits <= 1000000)
);
