-- Webhook endpoints, events, and their deliveries.

-- The places of ordered deliveries in their conversations.
create sequence delivery_positions;

create table webhooks (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  url text not null,
  secret_sealed text not null,
  secret_hint text not null,
  events text[] not null,
  enabled boolean not null default true,
  disabled_reason text,
  last_success_at timestamptz,
  -- The failed attempts since the last successful one, and the time of the first of them.
  failures int not null default 0,
  failing_since timestamptz,
  created_at timestamptz not null,
  -- A deleted endpoint is not shown and gets no events. Its deliveries and attempts stay on record.
  deleted_at timestamptz,
  -- While an endpoint is failing: when its next attempt may begin. The claim of that attempt moves it to the end of its
  -- lease, so that no other process starts one meanwhile. Null: attempts are not limited.
  next_attempt_at timestamptz,
  -- The new secret of a staged rotation. Attempts are signed with both until it is activated.
  staged_secret_sealed text,
  staged_secret_hint text,
  -- When the secret was last replaced. A failed attempt that was signed before is due again immediately.
  secret_changed_at timestamptz,
  -- Null if it is enabled. Manual retries and test events from then on are attempted although it is disabled.
  disabled_at timestamptz,
  -- It gets events of these senders, and those without a sender. Null: of all.
  senders uuid[],
  -- The headers of its own that each attempt has: their names, and all of them encrypted, as JSON.
  header_names text[],
  headers_sealed text,
  -- none, or conversation: the events of one sender and one person are delivered one after another.
  ordering text not null default 'none' check (ordering in ('none', 'conversation'))
);
create index webhooks_by_workspace on webhooks (workspace_id, created_at, id);
create index webhooks_paced on webhooks (next_attempt_at) where next_attempt_at is not null;
select isolate_workspace('webhooks', 'workspace_id');
create constraint trigger revise_routing after insert or delete on webhooks
  deferrable initially deferred for each row execute function revise_routing();
-- Every batch of attempts updates the failure counts of its endpoints. Only these columns affect what is sent.
create constraint trigger revise_routing_changed after update on webhooks
  deferrable initially deferred
  for each row when ((old.enabled, old.events, old.url, old.secret_sealed, old.staged_secret_sealed, old.deleted_at,
    old.next_attempt_at is null) is distinct from (new.enabled, new.events, new.url, new.secret_sealed,
    new.staged_secret_sealed, new.deleted_at, new.next_attempt_at is null))
  execute function revise_routing();
create constraint trigger revise_routing_headers after update on webhooks
  deferrable initially deferred
  for each row when (old.headers_sealed is distinct from new.headers_sealed) execute function revise_routing();

-- At the tenth failure in a row, half of those that disable an endpoint.
create function notify_failing_webhook() returns trigger language plpgsql as $$
begin
  insert into notifications (workspace_id, kind, data)
  values (new.workspace_id, 'webhook_failing', json_build_object('webhook_id', 'whk_' || new.id, 'name', new.name,
    'failures', new.failures, 'failing_since', new.failing_since));
  return null;
end $$;
create trigger notify_failing_webhook after update on webhooks
  for each row when (old.failures < 10 and new.failures >= 10 and new.enabled and new.deleted_at is null)
  execute function notify_failing_webhook();

-- The position of an event that is published now: the epoch above, the transaction ID in the lower 43 bits. On a new
-- server it begins the epoch, and others that publish wait for its commit. Numbers are hours, so that two restores of
-- one dump do not begin the same epoch.
create function new_event_position() returns bigint language plpgsql as $$
declare
  epoch bigint := (select number from current_event_epoch);
begin
  if epoch is null then
    perform from event_epoch for update;
    update event_epoch set number = greatest(number + 1, extract(epoch from now())::bigint / 3600),
      timeline = left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
      transaction_id = pg_current_xact_id(), table_id = tableoid
    where not exists (select from current_event_epoch);
    epoch := (select number from event_epoch);
  end if;
  return (epoch << 43) + pg_current_xact_id()::text::bigint;
end $$;

-- body has the exact bytes that are signed and sent. They are created once and never change.
create table events (
  id uuid not null,
  workspace_id uuid not null,
  type text not null,
  body bytea not null,
  created_at timestamptz not null,
  -- The message that it is about.
  message_id uuid,
  -- The sender that it is about. Null: none.
  sender_id uuid,
  -- Events that are stored already have the same position, and are read in the order of their IDs.
  position bigint not null default new_event_position()
) partition by range (created_at);
create index events_by_workspace on events (workspace_id, created_at desc, id desc);
create index events_by_id on events (id);
create index events_by_message on events (message_id) where message_id is not null;
-- For rare event types only. Frequent types are found soon with the index by time.
create index events_by_rare_type on events (workspace_id, type, created_at desc, id desc)
  where type not in ('message.sent', 'message.delivered', 'message.read', 'message.received');
create index events_by_position on events (workspace_id, position);
select isolate_workspace('events', 'workspace_id');

-- The epoch of the current server, one row. Transaction IDs may begin anew after a restore, and are given again after a
-- failover. So each server that Parley writes to has a higher number than the one before it.
create table event_epoch (
  number bigint not null,
  timeline text not null,
  -- The transaction that wrote this row, and the table that it wrote it to: the row's xmin and tableoid. After the
  -- restore of a dump they are not. One of them alone may be the same by chance: both clusters are often new.
  transaction_id xid8 not null,
  table_id oid not null
);
create unique index event_epoch_is_one on event_epoch ((true));
insert into event_epoch values (0, '', '0', 0);

-- Open deliveries only: one event for one endpoint. A worker may claim a delivery at due_at. While a worker holds it,
-- due_at is the end of the lease. A worker updates a delivery only while it holds the lease.
create table deliveries (
  event_id uuid not null,
  webhook_id uuid not null,
  workspace_id uuid not null,
  event_created_at timestamptz not null,
  -- Attempts so far in the current retry schedule.
  attempts smallint not null default 0,
  -- The reason for the next attempt: first, retry, manual or replay.
  trigger text not null default 'first',
  due_at timestamptz not null,
  lease uuid,
  -- The replay that counts this delivery and is named in its attempts.
  replay_id uuid,
  -- The replay has added it, so cancelling the replay drops it. Null: it was open when the replay came to its event.
  added_by_replay boolean,
  -- The conversation of an ordered delivery: a hash of its sender and its person. Null: it waits for no other. One with
  -- a conversation that is due at infinity waits until those before it have ended.
  conversation uuid,
  -- Its place in the conversation. Deliveries of one statement have the same, and are in the order of their events.
  position bigint,
  primary key (webhook_id, event_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 1);
-- By endpoint, so that an endpoint with many deliveries does not delay the others.
create index deliveries_due on deliveries (webhook_id, due_at);
-- Of a failing endpoint, manual retries and test events are claimed first.
create index deliveries_manual on deliveries (webhook_id, due_at) where trigger = 'manual';
-- What a replay has in progress; by trigger, because those that are not attempted yet are few.
create index deliveries_by_replay on deliveries (replay_id, trigger, event_id) where replay_id is not null;
create index deliveries_waiting on deliveries (webhook_id, conversation, position, event_id)
  where conversation is not null and due_at = 'infinity';
create index deliveries_started on deliveries (webhook_id, conversation)
  where conversation is not null and due_at < 'infinity';
select isolate_workspace('deliveries', 'workspace_id');

-- Not for a deleted endpoint: all of its deliveries are deleted, and none is started.
create function add_conversation_look() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into conversation_looks (webhook_id, conversation, workspace_id, look_at)
    select w.id, new.conversation, new.workspace_id, new.event_created_at
    from webhooks w where w.id = new.webhook_id and w.deleted_at is null;
  else
    insert into conversation_looks (webhook_id, conversation, workspace_id, look_at)
    select w.id, old.conversation, old.workspace_id, old.event_created_at
    from webhooks w where w.id = old.webhook_id and w.deleted_at is null;
  end if;
  return null;
end $$;
create trigger look_when_added after insert on deliveries
  for each row when (new.conversation is not null) execute function add_conversation_look();
create trigger look_when_ended after delete on deliveries
  for each row when (old.conversation is not null and old.due_at < 'infinity') execute function add_conversation_look();

-- Every attempt, with the state of its delivery afterwards: delivered, failed or retrying. A finished delivery has no
-- row in deliveries, only its attempts.
create table delivery_attempts (
  at timestamptz not null,
  event_id uuid not null,
  webhook_id uuid not null,
  workspace_id uuid not null,
  event_created_at timestamptz not null,
  number smallint not null,
  trigger text not null,
  state text not null,
  address text,
  status smallint,
  error text,
  answer bytea,
  duration_us int not null,
  -- One in a line, at most 4 KiB, without the values of cookies. Null if there was no response, and once a person is
  -- erased.
  response_headers text,
  -- The values of Service-Signature and Webhook-Signature, one in a line.
  signatures text not null default ''
) partition by range (at);
create index delivery_attempts_by_webhook on delivery_attempts (webhook_id, at desc, event_id);
create index delivery_attempts_by_event on delivery_attempts (event_id);
create index delivery_attempts_failed on delivery_attempts (webhook_id, at) where state = 'failed';
select isolate_workspace('delivery_attempts', 'workspace_id');

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
select isolate_workspace('delivery_hours', 'workspace_id');

-- When a claim looks at an endpoint. The statement that makes a delivery due adds a visit, unless one with step 0 is
-- planned by then. Rows are only added and deleted, so no transaction waits for another. A claim deletes the visits it
-- makes, oldest first, and adds the next one of each endpoint. An endpoint without open deliveries, or with held ones
-- only, has no visits.
create table endpoint_visits (
  webhook_id uuid not null,
  workspace_id uuid not null,
  visit_at timestamptz not null,
  -- 0: the next visit. 1 and 2: a claim found nothing more and looks again, for deliveries that were not committed yet.
  step smallint not null default 0
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index endpoint_visits_by_time on endpoint_visits (visit_at);
create index endpoint_visits_next on endpoint_visits (webhook_id, visit_at) where step = 0;
select isolate_workspace('endpoint_visits', 'workspace_id');

-- Work on the deliveries of an endpoint that are too many for one statement. Any process takes the next step, in a
-- short transaction: release makes retries due that were planned for later when the endpoint was enabled, delete
-- removes the deliveries of a deleted endpoint, retry and rotate make due what has failed since a time.
create table endpoint_steps (
  webhook_id uuid not null,
  workspace_id uuid not null,
  work text not null check (work in ('release', 'delete', 'retry', 'rotate')),
  asked_at timestamptz not null,
  -- Of retry and rotate: the time of the last attempt that was looked at.
  position_at timestamptz,
  -- The last delivery that was looked at.
  position uuid,
  -- How many deliveries were changed so far.
  done int not null default 0,
  step_at timestamptz not null,
  primary key (webhook_id, work)
);
create index endpoint_steps_by_time on endpoint_steps (step_at);
select isolate_workspace('endpoint_steps', 'workspace_id');

-- What has to be looked at: a delivery of this conversation was added or has ended, so the next one may have to start.
-- Triggers add a look in the transaction that makes it necessary, and the process that starts the next delivery deletes
-- it. So it is still there if a process dies in between, and a worker finds it. Rows are only added and deleted.
create table conversation_looks (
  webhook_id uuid not null,
  conversation uuid not null,
  workspace_id uuid not null,
  look_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index conversation_looks_by_time on conversation_looks (look_at);
create index conversation_looks_of on conversation_looks (webhook_id, conversation);
select isolate_workspace('conversation_looks', 'workspace_id');

-- How many events the filter of an endpoint left out in an hour (UTC). Transactions only insert here, so that none
-- waits for another that counts the same hour; maintenance replaces the rows of an hour by their sum.
create table left_out_events (
  workspace_id uuid not null,
  webhook_id uuid not null,
  hour timestamptz not null,
  count int not null,
  is_sum boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index left_out_events_by_hour on left_out_events (webhook_id, hour);
create index left_out_events_to_sum on left_out_events (webhook_id, hour) where not is_sum;
select isolate_workspace('left_out_events', 'workspace_id');

create table replays (
  id uuid primary key,
  workspace_id uuid not null,
  webhook_id uuid not null,
  state text not null default 'running' check (state in ('running', 'completed', 'cancelled')),
  -- The events that it covers: of this time, of these types (null: all that the endpoint subscribes to), of these
  -- numbers (null: all), and of these those that failed for good, that were never delivered, or all.
  since timestamptz not null,
  until timestamptz not null,
  event_types text[],
  senders uuid[],
  covers text not null check (covers in ('failed', 'missing', 'all')),
  -- First attempts in any second.
  rate int not null check (rate > 0),
  created_at timestamptz not null,
  -- When it was completed, or was cancelled and everything that was not sent has been dropped. Null: there is work to
  -- do.
  ended_at timestamptz,
  -- The transaction that created it. Events of transactions that were in progress then may be committed later.
  created_in xid8 not null default pg_current_xact_id(),
  -- The covered events, up to the one that was counted last. Delivered and failed are counted by the statement that
  -- finishes their deliveries.
  total int not null default 0,
  delivered int not null default 0,
  failed int not null default 0,
  is_counted boolean not null default false,
  counted_at timestamptz not null,
  counted_id uuid not null,
  -- The last event that was looked at for sending.
  position_at timestamptz not null,
  position_id uuid not null,
  -- The process that runs it, until its lease ends, and when it takes the next step.
  owner uuid,
  owned_until timestamptz,
  step_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index replays_open on replays (created_at) where ended_at is null;
create index replays_by_webhook on replays (webhook_id, created_at desc, id desc);
create index replays_by_workspace on replays (workspace_id, created_at desc, id desc);
select isolate_workspace('replays', 'workspace_id');

-- Batches are recorded once, although a writer repeats one when it lost the connection and does not know whether it was
-- committed. A writer numbers its batches. The statement that records a batch also moves the number here, and does
-- nothing if the number is here already. Rows are updated in place: free space in each page lets PostgreSQL do that
-- without touching the index.
create table batch_writers (
  id uuid primary key,
  last_batch bigint not null,
  recorded_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create view current_event_epoch as
  select number
   from event_epoch
  where timeline = "left"(pg_walfile_name(pg_current_wal_insert_lsn()), 8) and xmin = transaction_id::xid and tableoid = table_id;

-- For readers: the position of a transaction of this server. Until the server has an epoch, all stored events are of
-- earlier ones.
create function event_position(transaction_id xid8) returns bigint language sql stable as $$
  select (coalesce((select number from current_event_epoch), (select number + 1 from event_epoch)) << 43)
    + transaction_id::text::bigint
$$;
