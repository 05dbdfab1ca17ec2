-- The words of a form are found without a cast to jsonb. A value that jsonb cannot hold, such as 1e400000, must not keep a
-- submission from being stored.

-- step: concurrently
drop index concurrently flow_responses_by_words;

-- step: transaction
create or replace function searched_text(response json, flow_token text) returns text language plpgsql
  immutable parallel safe as $$
begin
  -- Escapes become spaces, and then the names of the fields.
  return concat_ws(' ', regexp_replace(regexp_replace(response::text, '\\(u[0-9a-fA-F]{4}|.)', ' ', 'g'), '"[^"]*"\s*:', ' ', 'g'),
    flow_token);
end $$;

-- step: concurrently
create index concurrently flow_responses_by_words on flow_responses using gin (search_vector(workspace_id,
    searched_text(response, flow_token), null::text, null::text));

-- step: transaction
-- As a publisher would number the epoch: after a restore, the cursors of later epochs still hold.
create or replace function event_position(transaction_id xid8) returns bigint language sql stable as $$
  select (coalesce((select number from current_event_epoch),
      (select greatest(number + 1, extract(epoch from now())::bigint / 3600) from event_epoch)) << 43)
    + transaction_id::text::bigint
$$;
