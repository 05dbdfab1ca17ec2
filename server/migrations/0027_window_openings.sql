-- When the current window of each key opened. Unlike budget_windows it is logged, so it survives a crash of PostgreSQL
-- and is on a standby. A window that is here and not there was lost: its key gets no more requests until it ends.
--
-- Locks: none on existing tables.
create table window_openings (
  subject text primary key,
  opened_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.5);

-- Since when no count was lost. Unlogged like budget_windows, so a crash or a failover empties both. Only windows that
-- opened before can be lost, so a minute later no request has to look for them.
create unlogged table counted_since (
  only_row boolean primary key default true check (only_row),
  since timestamptz not null
);
