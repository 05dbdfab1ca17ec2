-- Changes of webhooks that were not understood completely, each as the network sent it.

-- step: transaction
create table network_updates (
  -- A UUID of version 7, which sorts by arrival.
  id uuid primary key,
  -- Null: no workspace has connected the account. Only operators see it.
  workspace_id uuid,
  sender_id uuid,
  app_id uuid not null,
  field text not null,
  -- unknown_field, not_understood, partly_understood or notice
  outcome text not null,
  -- The members that were not read, such as messages.0.foo.
  paths text[] not null,
  received_at timestamptz not null,
  -- The interpretation that read it last. An update of an earlier one is read again.
  interpretation int not null,
  -- SHA-256 of the webhook text: the network repeats webhooks, and each is stored once.
  digest bytea not null,
  -- The change as a webhook of its own. Text, not json: PostgreSQL must accept whatever JavaScript could parse.
  webhook text not null,
  unique (app_id, digest)
);
create index network_updates_by_workspace on network_updates (workspace_id, id);
create index network_updates_by_interpretation on network_updates (interpretation, id);
select isolate_workspace('network_updates', 'workspace_id');
