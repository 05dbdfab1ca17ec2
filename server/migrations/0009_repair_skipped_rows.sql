-- Repairs what 0006 and 0007 skipped. They ran without parley.workspace, so row-level security hid every row from them: the
-- columns and tables were made, and stayed empty for all rows from before. Where they did their work, this changes nothing.
--
-- Locks: reads go on throughout. The updates lock only the rows they change, until the commit. The ledger is locked against
-- writes last, while its days are summed; sending takes messages and ledger in the same order.
-- Time: each of the three tables is read once. With 200,000 rows in each table of messages, a tenth of them to repair, and
-- 400,000 entries in the ledger: 7 s, 0.4 to 0.8 s of it with the ledger locked, on two cores that were busy with other work.

-- Only where the column is empty: since 0007 an inbound message has its quote in the column and not in the content.
update inbound_messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where quoted_wa_message_id is null and content ->> 'quotedWaMessageId' is not null;

update messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where quoted_wa_message_id is null and content ->> 'quotedWaMessageId' is not null;

-- Days since 0006 were counted entry by entry, and the day of that migration in part. The ledger keeps every entry, so all
-- days are summed again.
lock table credit_entries, credit_days in share row exclusive mode;
delete from credit_days;
insert into credit_days (workspace_id, day, spent, refunded)
  select workspace_id, (created_at at time zone 'UTC')::date, coalesce(-sum(amount) filter (where kind = 'debit'), 0),
    coalesce(sum(amount) filter (where kind = 'refund'), 0)
  from credit_entries group by 1, 2;
