-- Endpoints can have a filter by sender, headers of their own, and deliveries that keep the order of each conversation.
--
-- Locks: webhooks, deliveries and events exclusively, for a moment (new columns that are null or have a constant default, and
-- triggers).
--
-- While a process of the version before runs: it delivers the events that it publishes to all subscribed endpoints,
-- immediately and without the new headers, and if it does the maintenance, it makes deliveries due that wait for others of their
-- conversation. Those that wait for one of its deliveries go on, because of the trigger. Set these options after the upgrade.

-- step: transaction
alter table webhooks
  -- It gets events of these senders, and those without a sender. Null: of all.
  add column senders uuid[],
  -- The headers of its own that each attempt has: their names, and all of them encrypted, as JSON.
  add column header_names text[],
  add column headers_sealed text,
  -- none, or conversation: the events of one sender and one person are delivered one after another.
  add column ordering text not null default 'none' check (ordering in ('none', 'conversation'));
create constraint trigger revise_routing_headers after update on webhooks
  deferrable initially deferred for each row
  when (old.headers_sealed is distinct from new.headers_sealed)
  execute function revise_routing();

-- step: transaction
-- The sender that an event is about. Null: none, or it was published by the version before.
alter table events add column sender_id uuid;

-- step: transaction
-- What has to be looked at: a delivery of this conversation was added or has ended, so the next one may have to start.
-- Triggers add a look in the transaction that makes it necessary, and the process that starts the next delivery deletes it. So it is
-- still there if a process dies in between, and a worker finds it. Rows are only added and deleted.
create table conversation_looks (
  webhook_id uuid not null,
  conversation uuid not null,
  workspace_id uuid not null,
  look_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index conversation_looks_by_time on conversation_looks (look_at);
create index conversation_looks_of on conversation_looks (webhook_id, conversation);
select isolate_workspace('conversation_looks', 'workspace_id');

-- How many events the filter of an endpoint left out in an hour (UTC). Transactions only insert here, so that none waits for
-- another that counts the same hour; maintenance replaces the rows of an hour by their sum.
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

create sequence delivery_positions;

-- step: transaction
alter table deliveries
  -- The conversation of an ordered delivery: a hash of its sender and its person. Null: it waits for no other. One with a
  -- conversation that is due at infinity waits until those before it have ended.
  add column conversation uuid,
  -- Its place in the conversation. Deliveries of one statement have the same, and are in the order of their events.
  add column position bigint;

-- step: transaction
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

-- step: concurrently
create index concurrently deliveries_waiting on deliveries (webhook_id, conversation, position, event_id)
  where conversation is not null and due_at = 'infinity';

-- step: concurrently
create index concurrently deliveries_started on deliveries (webhook_id, conversation)
  where conversation is not null and due_at < 'infinity';

-- step: concurrently
-- Those that a version before this schema's version 25 has held, without those that wait.
create index concurrently deliveries_held_before on deliveries (webhook_id)
  where conversation is null and due_at = 'infinity';
