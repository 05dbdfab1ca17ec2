-- The console: what its pages need to answer quickly.

-- Overview, request log, refusals ---------------------------------------------------------------------------------

-- Requests by key, error and hour, counted as they are logged; without a code they went well.
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

-- Attempts by endpoint and hour, counted as they are recorded. durations: how many took so long, by the steps that
-- deliveries/durations.ts names.
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

-- Which request made a message; null for what was not sent through the API.
alter table messages add column request_id uuid;

-- With the status beside, messages are counted from the index alone.
drop index messages_by_workspace;
create index messages_by_workspace on messages (workspace_id, created_at, id) include (status);

-- Request ids grow with time, so a summary of each block of pages finds one for next to nothing.
create index request_log_by_id on request_log using brin (id) with (autosummarize = on);

-- Groups of refusals that somebody has seen enough of.
create table muted_refusals (
  workspace_id uuid not null references workspaces,
  code text not null,
  muted_by text not null,
  muted_at timestamptz not null,
  primary key (workspace_id, code)
);
select wall_off('muted_refusals', 'workspace_id');

-- Messages, senders, credits --------------------------------------------------------------------------------------

-- A person can send from the console: then no key did, and no key sees the message.
alter table messages
  alter column key_id drop not null,
  -- Who, as the address they signed in with.
  add column sent_by text,
  add check ((key_id is null) = (sent_by is not null));

-- What is looked for by more than its time. What is frequent is soon met by time; what is rare has an index of its own.
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

-- Which message an event tells of.
alter table events add column message_id uuid;
create index events_by_message on events (message_id) where message_id is not null;

-- What each day of UTC cost and what of it was given back, counted as it is entered.
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

-- By type, where it is rare; what is frequent is soon met by time.
create index events_by_rare_type on events (workspace_id, type, created_at desc, id desc)
  where type not in ('message.sent', 'message.delivered', 'message.read', 'message.received');
