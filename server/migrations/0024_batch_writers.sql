-- Batches that are recorded once, although a writer repeats a batch when it lost the connection and does not know whether
-- it was committed.
--
-- Locks: none on existing tables.

-- A writer of a process numbers its batches. The statement that records a batch also moves the number here, and does nothing
-- if the number is here already. One row per writer, and updated in place: free space in each page lets PostgreSQL do that
-- without touching the index.
create table batch_writers (
  id uuid primary key,
  last_batch bigint not null,
  recorded_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
