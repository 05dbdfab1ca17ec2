-- Replays: events that are kept are sent to one endpoint again, or for the first time.
--
-- Locks: deliveries exclusively, for a moment (new columns without a default).
--
-- While a process of the version before runs: attempts that it makes for a replay have no Service-Replay header and are not
-- counted. What it has finished leaves the total when the replay is completed.

-- step: transaction
create table replays (
  id uuid primary key,
  workspace_id uuid not null,
  webhook_id uuid not null,
  state text not null default 'running' check (state in ('running', 'completed', 'cancelled')),
  -- The events that it covers: of this time, of these types (null: all that the endpoint subscribes to), of these numbers
  -- (null: all), and of these those that failed for good, that were never delivered, or all.
  since timestamptz not null,
  until timestamptz not null,
  event_types text[],
  senders uuid[],
  covers text not null check (covers in ('failed', 'missing', 'all')),
  -- First attempts in any second.
  rate int not null check (rate > 0),
  created_at timestamptz not null,
  -- When it was completed, or was cancelled and everything that was not sent has been dropped. Null: there is work to do.
  ended_at timestamptz,
  -- The transaction that created it. Events of transactions that were in progress then may be committed later.
  created_in xid8 not null default pg_current_xact_id(),
  -- The covered events, up to the one that was counted last. Delivered and failed are counted by the statement that finishes
  -- their deliveries.
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
  -- One row for all attempts of a replay: free space in each page lets PostgreSQL update it without touching the indexes.
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index replays_open on replays (created_at) where ended_at is null;
create index replays_by_webhook on replays (webhook_id, created_at desc, id desc);
create index replays_by_workspace on replays (workspace_id, created_at desc, id desc);
select isolate_workspace('replays', 'workspace_id');

-- step: transaction
alter table deliveries
  -- The replay that counts this delivery and is named in its attempts.
  add column replay_id uuid,
  -- The replay has added it, so cancelling the replay drops it. Null: it was open when the replay came to its event.
  add column added_by_replay boolean;

-- step: concurrently
-- What a replay has in progress; by trigger, because those that are not attempted yet are few.
create index concurrently deliveries_by_replay on deliveries (replay_id, trigger, event_id) where replay_id is not null;
