-- Repairs what 0006 and 0007 skipped. They ran without parley.workspace, so row-level security hid every row from them: the
-- columns and tables were made, and stayed empty for all rows from before. Where they did their work, this changes nothing.
--
-- Locks and time: reads go on throughout. The updates lock only the rows they change, until the commit. Then the ledger is
-- locked against writes while its days are summed. Messages come first and the ledger last, in the order in which sending
-- takes them. Each of the three tables is read once: about 1.5 s per million messages and 1 s per million ledger entries.

-- Only where the column is empty: since 0007 an inbound message has its quote in the column and not in the content.
-- The text is searched before it is parsed, for few messages quote another.
update inbound_messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where quoted_wa_message_id is null and content::text like '%quotedWaMessageId%'
    and content ->> 'quotedWaMessageId' is not null;

update messages set quoted_wa_message_id = content ->> 'quotedWaMessageId'
  where quoted_wa_message_id is null and content::text like '%quotedWaMessageId%'
    and content ->> 'quotedWaMessageId' is not null;

-- Days since 0006 were counted entry by entry, and the day of that migration in part. The ledger keeps every entry, so all
-- days are summed again.
lock table credit_entries, credit_days in share row exclusive mode;
delete from credit_days;
insert into credit_days (workspace_id, day, spent, refunded)
  select workspace_id, (created_at at time zone 'UTC')::date, coalesce(-sum(amount) filter (where kind = 'debit'), 0),
    coalesce(sum(amount) filter (where kind = 'refund'), 0)
  from credit_entries group by 1, 2;
