-- A process that is alone lets requests in for a few milliseconds after each look at the revision without looking again: it
-- holds a lease. So whoever changes what decides about requests waits before the commit until no lease is left.

create function outwait_leases() returns void language plpgsql as $$
begin
  -- Held until the commit; meanwhile look_at_revision tells of it, and nobody takes a new lease.
  perform pg_advisory_xact_lock_shared(7215501);
  -- Nobody but a keeper has one. A little longer than one lasts (leaseMs in keeper.ts).
  if exists (select from access_revision where keeper is not null) then
    perform pg_sleep(0.06);
  end if;
end $$;

-- The lock first, and only then the row, which is read by a statement of its own: whoever held the lock before has then been
-- committed for it to see.
create function look_at_revision(out revision bigint, out its_keeper uuid, out is_calm boolean) language plpgsql volatile as $$
begin
  is_calm := pg_try_advisory_xact_lock(7215501);
  select value, keeper into revision, its_keeper from access_revision;
end $$;

create or replace function revise_access() returns trigger language plpgsql as $$
declare
  this_transaction text := pg_current_xact_id()::text;
begin
  -- Each once a transaction, however many rows it changes. What is new has no copy anywhere that could be outdated.
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
