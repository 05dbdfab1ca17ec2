-- The network: apps, connected accounts, their numbers and templates; messages in and out; events and their deliveries.

-- Apps and connections --------------------------------------------------------------------------------------------
-- An app belongs to the installation. Its webhooks only reach senders that are connected through it.

create table apps (
  id uuid primary key,
  name text not null,
  graph_url text not null,
  app_secret_sealed text not null,
  verify_token_sealed text not null,
  created_at timestamptz not null
);

create table connections (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  app_id uuid not null references apps,
  waba_id text not null,
  access_token_sealed text not null,
  created_at timestamptz not null,
  -- When the current data was requested from the network, and the error of the sync after it.
  synced_at timestamptz,
  sync_error text,
  sync_failures int not null default 0,
  -- When the next sync is due. Set to an earlier time when the network reports a change.
  sync_due_at timestamptz not null,
  -- Every sync gets a number. A sync does not overwrite the results of one with a higher number.
  sync_ticket bigint not null default 0,
  sync_applied bigint not null default 0,
  unique (app_id, waba_id)
);
create index connections_by_workspace on connections (workspace_id, created_at, id);
create index connections_due on connections (sync_due_at);
select wall_off('connections', 'workspace_id');

-- Senders ---------------------------------------------------------------------------------------------------------

create table senders (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  connection_id uuid not null references connections,
  app_id uuid not null references apps,
  phone_number_id text not null,
  phone_number text not null,
  display_name text,
  status text not null,
  quality_rating text not null,
  throughput text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (app_id, phone_number_id)
);
create index senders_by_workspace on senders (workspace_id, created_at, id);
select wall_off('senders', 'workspace_id');

-- Incremented by every change that affects how webhooks of the network are routed, like access_revision for keys.
create table routing_revision (only_row boolean primary key default true check (only_row), value bigint not null);
insert into routing_revision (value) values (1);

create function revise_routing() returns trigger language plpgsql as $$
begin
  if current_setting('parley.rerouted', true) is distinct from pg_current_xact_id()::text then
    perform set_config('parley.rerouted', pg_current_xact_id()::text, true);
    update routing_revision set value = value + 1;
  end if;
  return null;
end $$;

create constraint trigger revise_routing after insert or update or delete on apps
  deferrable initially deferred for each row execute function revise_routing();
create constraint trigger revise_routing after insert or delete or update of app_id, access_token_sealed on connections
  deferrable initially deferred for each row execute function revise_routing();
create constraint trigger revise_routing after insert or delete on senders
  deferrable initially deferred for each row execute function revise_routing();
-- A sync writes every column that may have changed. Only these affect routing.
create constraint trigger revise_routing_moved after update on senders
  deferrable initially deferred for each row
  when ((old.connection_id, old.app_id, old.phone_number_id) is distinct from
    (new.connection_id, new.app_id, new.phone_number_id))
  execute function revise_routing();
create constraint trigger revise_routing after insert or delete on webhooks
  deferrable initially deferred for each row execute function revise_routing();
-- Every batch of attempts updates the failure counts of its endpoints. Only these columns affect what is sent.
create constraint trigger revise_routing_changed after update on webhooks
  deferrable initially deferred for each row
  when ((old.enabled, old.events, old.url, old.secret_sealed, old.deleted_at) is distinct from
    (new.enabled, new.events, new.url, new.secret_sealed, new.deleted_at))
  execute function revise_routing();

-- Templates -------------------------------------------------------------------------------------------------------
-- components, variables and flow are json, not jsonb, to keep the key order of the network.

create table templates (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  connection_id uuid not null references connections,
  network_template_id text not null,
  name text not null,
  language text not null,
  category text not null,
  status text not null,
  rejected_reason text,
  quality text,
  components json not null,
  -- A digest of the components without the links to sample files, which the network signs again for each request.
  content_digest text not null,
  variables json not null,
  flow json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The network no longer lists it. It is not shown, but kept for the messages that refer to it.
  removed_at timestamptz,
  unique (connection_id, name, language)
);
create index templates_by_workspace on templates (workspace_id, created_at, id) where removed_at is null;
select wall_off('templates', 'workspace_id');

-- Messages --------------------------------------------------------------------------------------------------------

-- Messages sent with the keys of a workspace.
create table messages (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  sender_id uuid not null references senders,
  recipient text not null,
  status text not null default 'queued',
  wa_message_id text,
  error json,
  created_at timestamptz not null,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  failed_at timestamptz
);
create unique index messages_by_wa_id on messages (sender_id, wa_message_id) where wa_message_id is not null;
create index messages_by_workspace on messages (workspace_id, created_at, id);
select wall_off('messages', 'workspace_id');

-- The status history of a message, each status once.
create table message_statuses (
  message_id uuid not null references messages,
  workspace_id uuid not null,
  status text not null,
  occurred_at timestamptz not null,
  error json,
  primary key (message_id, status)
);
select wall_off('message_statuses', 'workspace_id');

-- Statuses of messages with an unknown ID. The response to the send request may still be on its way.
create table early_statuses (
  sender_id uuid not null references senders,
  workspace_id uuid not null,
  wa_message_id text not null,
  status text not null,
  occurred_at timestamptz not null,
  error json,
  recorded_at timestamptz not null,
  primary key (sender_id, wa_message_id, status)
);
create index early_statuses_by_age on early_statuses (recorded_at);
select wall_off('early_statuses', 'workspace_id');

-- Messages sent to the numbers of a workspace. Each is stored once, however often the network repeats its webhook.
create table inbound_messages (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  sender_id uuid not null references senders,
  wa_message_id text not null,
  sent_by text,
  sent_by_user_id text,
  type text not null,
  received_at timestamptz not null,
  recorded_at timestamptz not null,
  profile_name text,
  -- The parsed content: text, file, location, form, cart.
  content json not null,
  unique (sender_id, wa_message_id)
);
create index inbound_messages_by_workspace on inbound_messages (workspace_id, recorded_at, id);
select wall_off('inbound_messages', 'workspace_id');

-- Events and deliveries -------------------------------------------------------------------------------------------

-- body has the exact bytes that are signed and sent. They are created once and never change.
create table events (
  id uuid not null,
  workspace_id uuid not null,
  type text not null,
  body bytea not null,
  created_at timestamptz not null
) partition by range (created_at);
create table events_default partition of events default;
create index events_by_workspace on events (workspace_id, created_at desc, id desc);
create index events_by_id on events (id);
select wall_off('events', 'workspace_id');
select only_through_whole('events_default');

-- Open deliveries only: one event for one endpoint. A worker may claim a delivery at due_at. While a worker holds it,
-- due_at is the end of the lease; while the endpoint is disabled, it is infinity. A worker updates a delivery only
-- while it holds the lease.
create table deliveries (
  event_id uuid not null,
  webhook_id uuid not null,
  workspace_id uuid not null,
  event_created_at timestamptz not null,
  -- Attempts so far in the current retry schedule.
  attempts smallint not null default 0,
  -- The reason for the next attempt: first, retry or manual.
  trigger text not null default 'first',
  due_at timestamptz not null,
  lease uuid,
  primary key (webhook_id, event_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 1);
-- By endpoint, so that an endpoint with many deliveries does not delay the others.
create index deliveries_due on deliveries (webhook_id, due_at);
select wall_off('deliveries', 'workspace_id');

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
  duration_us int not null
) partition by range (at);
create table delivery_attempts_default partition of delivery_attempts default;
create index delivery_attempts_by_webhook on delivery_attempts (webhook_id, at desc, event_id);
create index delivery_attempts_by_event on delivery_attempts (event_id);
create index delivery_attempts_failed on delivery_attempts (webhook_id, at) where state = 'failed';
select wall_off('delivery_attempts', 'workspace_id');
select only_through_whole('delivery_attempts_default');
