-- The console: tables and indexes that keep its pages fast.

-- Overview, request log, refusals ---------------------------------------------------------------------------------

-- Requests by key, error code and hour, counted while they are logged. Successful requests have no code.
create table traffic_hours (
  hour timestamptz not null,
  workspace_id uuid,
  key_id uuid,
  code text,
  count int not null,
  unique nulls not distinct (workspace_id, hour, key_id, code)
) partition by range (hour);
create table traffic_hours_default partition of traffic_hours default;
select wall_off('traffic_hours', 'workspace_id');
select only_through_whole('traffic_hours_default');

-- Attempts by endpoint and hour, counted while they are recorded. durations is a histogram with the buckets of
-- deliveries/durations.ts.
create table delivery_hours (
  hour timestamptz not null,
  workspace_id uuid not null,
  webhook_id uuid not null,
  succeeded int not null,
  failed int not null,
  durations int[] not null,
  unique (workspace_id, webhook_id, hour)
) partition by range (hour);
create table delivery_hours_default partition of delivery_hours default;
select wall_off('delivery_hours', 'workspace_id');
select only_through_whole('delivery_hours_default');

-- The API request that created a message; null if it was not sent through the API.
alter table messages add column request_id uuid;

-- With the status included, messages are counted with an index-only scan.
drop index messages_by_workspace;
create index messages_by_workspace on messages (workspace_id, created_at, id) include (status);

-- Request IDs grow with time, so a small BRIN index is enough to find one.
create index request_log_by_id on request_log using brin (id) with (autosummarize = on);

-- Groups of API errors that were muted in the console.
create table muted_refusals (
  workspace_id uuid not null references workspaces,
  code text not null,
  muted_by text not null,
  muted_at timestamptz not null,
  primary key (workspace_id, code)
);
select wall_off('muted_refusals', 'workspace_id');

-- Messages, senders, credits --------------------------------------------------------------------------------------

-- Messages sent from the console have no key, and no key can read them.
alter table messages
  alter column key_id drop not null,
  -- The email address of the person who sent it.
  add column sent_by text,
  add check ((key_id is null) = (sent_by is not null));

-- For filters in addition to the time. Frequent values are found soon by time; rare values need their own index.
create index messages_by_person on messages (workspace_id, recipient, created_at, id);
create index messages_by_sender on messages (sender_id, created_at, id);
create index messages_by_template on messages (workspace_id, template_id, created_at, id) where template_id is not null;
create index messages_by_reference on messages (workspace_id, reference, created_at, id) where reference is not null;
create index messages_by_rare_status on messages (workspace_id, status, created_at, id)
  where status in ('queued', 'failed');
create index messages_by_rare_type on messages (workspace_id, type, created_at, id)
  where type not in ('text', 'template');
create index messages_by_quoted on messages (sender_id, (content ->> 'quotedWaMessageId'))
  where content ->> 'quotedWaMessageId' is not null;

create index inbound_messages_by_person on inbound_messages (workspace_id, sent_by, recorded_at, id);
create index inbound_messages_by_sender on inbound_messages (sender_id, recorded_at, id);
create index inbound_messages_by_rare_type on inbound_messages (workspace_id, type, recorded_at, id)
  where type not in ('text', 'image', 'interactive', 'button');
create index inbound_messages_by_quoted on inbound_messages (sender_id, (content ->> 'quotedWaMessageId'))
  where content ->> 'quotedWaMessageId' is not null;

-- The message that an event is about.
alter table events add column message_id uuid;
create index events_by_message on events (message_id) where message_id is not null;

-- Credits spent and refunded per day in UTC, updated with every ledger entry.
create table credit_days (
  workspace_id uuid not null references workspaces,
  day date not null,
  spent bigint not null,
  refunded bigint not null,
  primary key (workspace_id, day)
) with (fillfactor = 50);
select wall_off('credit_days', 'workspace_id');
insert into credit_days (workspace_id, day, spent, refunded)
  select workspace_id, (created_at at time zone 'UTC')::date, coalesce(-sum(amount) filter (where kind = 'debit'), 0),
    coalesce(sum(amount) filter (where kind = 'refund'), 0)
  from credit_entries group by 1, 2;

create index credit_entries_by_rare_kind on credit_entries (workspace_id, kind, created_at, id) where kind <> 'debit';

-- Deliveries ------------------------------------------------------------------------------------------------------

-- For rare event types only. Frequent types are found soon with the index by time.
create index events_by_rare_type on events (workspace_id, type, created_at desc, id desc)
  where type not in ('message.sent', 'message.delivered', 'message.read', 'message.received');
