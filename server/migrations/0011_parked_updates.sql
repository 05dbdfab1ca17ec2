-- Webhook updates for phone numbers that are not synced yet.

-- A webhook may carry messages and statuses for a number that the connected account has and this database does not: the
-- number was just added, or the first sync failed. Each such change is stored as the network sent it and published once
-- a sync has found the number. The webhook is stored as text and parsed at release, so upgrades in between are safe.
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
select wall_off('parked_updates', 'workspace_id');

alter table connections
  -- When the numbers of this account were last requested from the network, whatever the result.
  add column sync_asked_at timestamptz,
  -- The network asked for a pause: no sync for parked updates before this time.
  add column sync_not_before timestamptz,
  -- Successful syncs in a row that left updates parked: the account does not list their numbers.
  add column unlisted_syncs int not null default 0;
