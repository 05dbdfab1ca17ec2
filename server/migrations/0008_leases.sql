-- While there is only one process, it admits requests for a few milliseconds after each read of the revision, without
-- reading it again: it holds a lease. So a transaction that changes access waits until the lease has expired.

create function outwait_leases() returns void language plpgsql as $$
begin
  -- Held until the commit. Meanwhile look_at_revision returns is_calm = false, and the process takes no new lease.
  perform pg_advisory_xact_lock_shared(7215501);
  -- Only that one process has a lease. The sleep is a little longer than a lease lasts.
  if exists (select from access_revision where keeper is not null) then
    perform pg_sleep(0.06);
  end if;
end $$;

-- The lock is taken first, and the row is read by a separate statement, so that it sees the commit of the transaction
-- that held the lock before.
create function look_at_revision(out revision bigint, out its_keeper uuid, out is_calm boolean) language plpgsql volatile as $$
begin
  is_calm := pg_try_advisory_xact_lock(7215501);
  select value, keeper into revision, its_keeper from access_revision;
end $$;

create or replace function revise_access() returns trigger language plpgsql as $$
declare
  this_transaction text := pg_current_xact_id()::text;
begin
  -- Each step once per transaction, however many rows it changes. Inserts need no wait: no process has a copy yet.
  if tg_op <> 'INSERT' and current_setting('parley.outwaited', true) is distinct from this_transaction then
    perform set_config('parley.outwaited', this_transaction, true);
    perform outwait_leases();
  end if;
  if current_setting('parley.revised', true) is distinct from this_transaction then
    perform set_config('parley.revised', this_transaction, true);
    update access_revision set value = value + 1;
  end if;
  return null;
end $$;
