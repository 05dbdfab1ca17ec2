-- When the current window of each key opened. Unlike budget_windows it is logged, so it survives a crash of PostgreSQL
-- and is on a standby. A window that is here and not there was lost: its key gets no more requests until it ends.
--
-- Locks: none on existing tables.
create table window_openings (
  subject text primary key,
  opened_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.5);
