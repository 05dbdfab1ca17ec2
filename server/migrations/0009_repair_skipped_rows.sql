-- Repairs the rows that 0006 and 0007 skipped. They ran without parley.workspace, so row-level security hid all rows:
-- the new columns and tables stayed empty for existing rows. If they did see the rows, this migration changes nothing.
--
-- Locks: reads are never blocked. The updates lock only the rows they change, until the commit. The ledger is locked
-- against writes last, while its days are summed. Sending locks messages and the ledger in the same order. Time: each
-- of the three tables is read once. With 200,000 rows in each table of messages, a tenth of them to repair, and 400,000
-- ledger entries it took 7 s on two busy cores, with the ledger locked for 0.4 to 0.8 s.

-- Only if the column is empty: since 0007 an inbound message has its quote in the column and not in the content.
update inbound_messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where quoted_wa_message_id is null and content ->> 'quotedWaMessageId' is not null;

update messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where quoted_wa_message_id is null and content ->> 'quotedWaMessageId' is not null;

-- The days after 0006 are complete, the day of that migration is not, and earlier days are missing. The ledger has
-- every entry, so all days are summed again.
lock table credit_entries, credit_days in share row exclusive mode;
delete from credit_days;
insert into credit_days (workspace_id, day, spent, refunded)
  select workspace_id, (created_at at time zone 'UTC')::date, coalesce(-sum(amount) filter (where kind = 'debit'), 0),
    coalesce(sum(amount) filter (where kind = 'refund'), 0)
  from credit_entries group by 1, 2;
