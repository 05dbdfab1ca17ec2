-- A send writes no foreign keys. The statement that stores it takes these IDs from rows that it has just read, or writes
-- the row that they name itself, and no row of these tables is ever deleted. Checking them was a quarter of its time.
alter table messages
  drop constraint messages_workspace_id_fkey,
  drop constraint messages_sender_id_fkey,
  drop constraint messages_key_id_fkey,
  drop constraint messages_template_id_fkey;
-- step: transaction
alter table outbox
  drop constraint outbox_message_id_fkey,
  drop constraint outbox_sender_id_fkey;
-- step: transaction
alter table credit_entries drop constraint credit_entries_workspace_id_fkey;
-- step: transaction
alter table credit_days drop constraint credit_days_workspace_id_fkey;
-- step: transaction
alter table idempotency_keys
  drop constraint idempotency_keys_workspace_id_fkey,
  drop constraint idempotency_keys_key_id_fkey;
-- step: transaction
alter table idempotency_days drop constraint idempotency_days_workspace_id_fkey;

-- step: transaction
-- Once for all balances that a statement changes.
drop trigger notify_low_credits on credit_balances;
create or replace function notify_low_credits() returns trigger language plpgsql as $$
begin
  insert into notifications (workspace_id, kind, data)
  select w.id, 'credits_low', json_build_object('balance', n.balance, 'threshold', w.low_balance)
  from changed_to n join changed_from o on o.workspace_id = n.workspace_id join workspaces w on w.id = n.workspace_id
  where n.balance < o.balance and n.balance <= w.low_balance and o.balance > w.low_balance;
  return null;
end $$;
create trigger notify_low_credits after update on credit_balances
  referencing old table as changed_from new table as changed_to
  for each statement execute function notify_low_credits();
