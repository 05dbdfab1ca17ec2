-- Every process now counts rate limits in budget_windows, so a change to a key or a workspace has no leases to wait
-- for. It only increments the revision, once per transaction, at commit.
create or replace function revise_access() returns trigger language plpgsql as $$
begin
  if current_setting('parley.revised', true) is distinct from pg_current_xact_id()::text then
    perform set_config('parley.revised', pg_current_xact_id()::text, true);
    update access_revision set value = value + 1;
  end if;
  return null;
end $$;

drop function look_at_revision();
drop function outwait_leases();
-- The table has one row, so the lock is short.
alter table access_revision drop column keeper;
