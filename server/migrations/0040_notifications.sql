-- What endpoints and people are notified of, such as low credits.

-- step: transaction
-- What has happened and was not passed on yet. Written in the transaction of the change, and deleted by the transaction that
-- passes it on.
create table notifications (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null,
  -- For example credits_low.
  kind text not null,
  data json not null,
  created_at timestamptz not null default now()
);
create index notifications_by_time on notifications (created_at);
select isolate_workspace('notifications', 'workspace_id');

-- step: transaction
-- For every change of a balance, also by processes of the version before. It reads one row of workspaces for each workspace
-- of a batch of messages, and takes no lock.
create function notify_low_credits() returns trigger language plpgsql as $$
declare
  mark bigint := (select low_balance from workspaces where id = new.workspace_id);
begin
  if new.balance <= mark and old.balance > mark then
    insert into notifications (workspace_id, kind, data)
    values (new.workspace_id, 'credits_low', json_build_object('balance', new.balance, 'threshold', mark));
  end if;
  return null;
end $$;
create trigger notify_low_credits after update on credit_balances
  for each row when (new.balance < old.balance) execute function notify_low_credits();
