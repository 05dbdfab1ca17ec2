-- The network: apps, connected accounts, their numbers and templates, and what the network says about people.

-- An app belongs to the installation. Its webhooks only reach senders that are connected through it.
create table apps (
  id uuid primary key,
  name text not null,
  graph_url text not null,
  app_secret_sealed text not null,
  verify_token_sealed text not null,
  created_at timestamptz not null
);
create constraint trigger revise_routing after insert or delete or update on apps
  deferrable initially deferred for each row execute function revise_routing();

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
  -- When the numbers of this account were last requested from the network, whatever the result.
  sync_asked_at timestamptz,
  -- The network asked for a pause: no sync for parked updates before this time.
  sync_not_before timestamptz,
  -- Successful syncs in a row that left updates parked: the account does not list their numbers.
  unlisted_syncs int not null default 0,
  -- What the network's notices say about the account: ACTIVE, FLAGGED, RESTRICTED, BANNED, DISCONNECTED or DELETED.
  status text not null default 'ACTIVE',
  status_reason text,
  -- When a restriction ends. Null if it does not end by itself.
  status_until timestamptz,
  -- The time of the notice, so that an older one does not replace a newer one.
  status_at timestamptz,
  -- When the access token ends, as the network says. Null if it does not end or is not known.
  token_expires_at timestamptz,
  -- When this expiry was first seen. Null if the token does not expire.
  token_seen_at timestamptz,
  unique (app_id, waba_id)
);
create index connections_by_workspace on connections (workspace_id, created_at, id);
create index connections_due on connections (sync_due_at);
select isolate_workspace('connections', 'workspace_id');
create constraint trigger revise_routing after insert or delete or update of app_id,
    access_token_sealed on connections
  deferrable initially deferred for each row execute function revise_routing();

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
  -- Why the status or the quality rating of a sender changed, as far as the network said so.
  status_reason text,
  unique (app_id, phone_number_id)
);
create index senders_by_workspace on senders (workspace_id, created_at, id);
select isolate_workspace('senders', 'workspace_id');
create constraint trigger revise_routing after insert or delete on senders
  deferrable initially deferred for each row execute function revise_routing();
-- A sync writes every column that may have changed. Only these affect routing.
create constraint trigger revise_routing_moved after update on senders
  deferrable initially deferred
  for each row when ((old.connection_id, old.app_id, old.phone_number_id) is distinct from (new.connection_id,
    new.app_id, new.phone_number_id))
  execute function revise_routing();

-- Incremented by every change that affects how webhooks of the network are routed, like access_revision for keys.
create table routing_revision (
  only_row boolean primary key default true check (only_row),
  value bigint not null
);
insert into routing_revision (value) values (1);

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
  -- The network's kind of template, such as ORDER_STATUS. Null until the next sync, or if the network names none.
  sub_category text,
  unique (connection_id, name, language)
);
create index templates_by_workspace on templates (workspace_id, created_at, id) where removed_at is null;
select isolate_workspace('templates', 'workspace_id');

-- Whether a person wants marketing messages from a number. Only those who chose have a row.
create table marketing_preferences (
  sender_id uuid not null references senders,
  -- The phone number, or the network's user ID if it withholds the number.
  person text not null,
  workspace_id uuid not null,
  user_id text,
  -- stop or resume
  marketing text not null,
  changed_at timestamptz not null,
  primary key (sender_id, person)
);
select isolate_workspace('marketing_preferences', 'workspace_id');

-- WhatsApp replaces a person's user ID, for example when they change their number. A message to the old ID goes to the
-- new one.
create table user_id_changes (
  workspace_id uuid not null references workspaces,
  old_user_id text not null,
  new_user_id text not null,
  -- Whether the person changed their number too, and the new number if the network reported it.
  changed_number boolean not null,
  number text,
  changed_at timestamptz not null,
  primary key (workspace_id, old_user_id)
);
-- A marketing message to a person must find the opt-out that they sent under an earlier user ID.
create index user_id_changes_by_new_id on user_id_changes (workspace_id, new_user_id);
select isolate_workspace('user_id_changes', 'workspace_id');

-- Updates for a number that the connected account has and this database does not: the number was just added, or the
-- first sync failed. Each is stored as the network sent it, and published once a sync has found the number.
create table parked_updates (
  -- A UUID of version 7, which sorts by arrival.
  id uuid not null,
  -- The workspace of the connection. The events go to the workspace that owns the number at release.
  workspace_id uuid not null,
  connection_id uuid not null,
  phone_number_id text not null,
  received_at timestamptz not null,
  -- SHA-256 of the webhook text: the network repeats webhooks, and each is stored once.
  digest bytea not null,
  -- Text, not json: PostgreSQL must accept whatever JavaScript could parse.
  webhook text not null,
  -- Not released before this time; set after a release that failed.
  release_after timestamptz,
  primary key (connection_id, phone_number_id, id),
  unique (connection_id, phone_number_id, digest)
);
select isolate_workspace('parked_updates', 'workspace_id');

-- Phone numbers whose updates are dropped, because their account is not connected through the app. One row for each of
-- at most about fifty numbers of an app. It belongs to no workspace; operators see it.
create table unknown_numbers (
  app_id uuid not null references apps,
  waba_id text not null,
  phone_number_id text not null,
  -- How many messages and statuses were dropped.
  updates bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (app_id, waba_id, phone_number_id)
) with (fillfactor = 50);
