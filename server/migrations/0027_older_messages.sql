-- Older inbound messages get their own tables, so that inserting does not become slower as messages accumulate.
--
-- Every insert changes a random page of two indexes of inbound_messages: the unique one of the network's IDs, and the one
-- by person. If these do not fit into memory, each message costs two reads from disk. So inbound_messages keeps the recent
-- messages only, and the service moves older ones to tables that inherit from it: a query of inbound_messages reads all
-- of them. Inheritance and not partitions, because the unique index of a partitioned table must contain the time, and a
-- repeated webhook must find its message whatever the time is.
--
-- Locks: inbound_messages, flow_responses and orders exclusively, for a moment.

-- step: transaction
-- A table for older messages, empty at first. Its indexes are those of inbound_messages, but none is unique: whether a
-- message is new was decided when it was received. Attaching it blocks neither readers nor writers.
create function add_older_inbound_messages() returns void language plpgsql
  -- PostgreSQL cancels an automatic vacuum that is in the way after one second.
  set lock_timeout = '3s' as $$
declare
  older text;
  definition text;
begin
  select 'inbound_messages_older_' || coalesce(max(substring(relname from '\d+$')::int), 0) + 1 into older
    from pg_class where relname ~ '^inbound_messages_older_\d+$' and relnamespace = current_schema()::regnamespace
      and relkind = 'r';
  execute format('create table %I (like inbound_messages including all excluding indexes)', older);
  for definition in
    select pg_get_indexdef(indexrelid) from pg_index where indrelid = 'inbound_messages'::regclass and indisvalid
  loop
    execute regexp_replace(definition, '^CREATE (UNIQUE )?INDEX \S+ ON (ONLY )?\S+ USING', format('create index on %I using', older));
  end loop;
  perform only_through_whole(older::regclass);
  execute format('alter table %I inherit inbound_messages', older);
end $$;

-- step: transaction
-- A foreign key sees only the rows of inbound_messages itself. Messages are never deleted, and a submission or an order
-- is inserted in the transaction of its message.
-- In this order, because a transaction that inserts a submission or an order has inserted its message before.
lock table inbound_messages, flow_responses, orders in access exclusive mode;
alter table flow_responses drop constraint flow_responses_message_id_fkey;
alter table orders drop constraint orders_message_id_fkey;
