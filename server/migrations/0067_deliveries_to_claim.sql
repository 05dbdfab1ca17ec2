-- Recording an attempt finds its delivery by webhook and event. While the table was small, PostgreSQL could choose the
-- index by webhook and time for that, and read all deliveries of the webhook for each attempt. It cannot use an index with a
-- condition for a statement that does not have the condition. Processes that were started before this migration read the
-- deliveries of a webhook by the primary key and sort them. Both steps wait for older transactions and block no one.
-- step: concurrently
create index concurrently deliveries_to_claim on deliveries (webhook_id, due_at) where due_at < 'infinity';
-- step: concurrently
drop index concurrently deliveries_due;
