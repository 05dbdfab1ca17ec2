-- The search of the console.

-- With row-level security, PostgreSQL uses an index only for operators that are leakproof, and those of full-text
-- search are not. The policies of a table do not apply to a query of the table that it inherits from. So these are the
-- same rows without policies. Only the function below reads them, for the workspace that it is given.
create table search_messages (
  id uuid,
  workspace_id uuid,
  created_at timestamptz,
  type text,
  content json,
  reference text,
  recipient text
);
revoke insert, update, delete, truncate on search_messages from current_user;

create table search_inbound (
  id uuid,
  workspace_id uuid,
  recorded_at timestamptz,
  type text,
  content json,
  profile_name text,
  sent_by text
);
revoke insert, update, delete, truncate on search_inbound from current_user;

create table search_orders (
  id uuid,
  workspace_id uuid,
  created_at timestamptz,
  note text,
  items json,
  total numeric,
  currency text
);
revoke insert, update, delete, truncate on search_orders from current_user;

create table search_forms (
  id uuid,
  workspace_id uuid,
  created_at timestamptz,
  response json,
  flow_token text
);
revoke insert, update, delete, truncate on search_forms from current_user;

-- The newest rows of a workspace that have, for each of the texts, a word that begins with it. All matches are read,
-- and only from the index: in the order of time, or of the workspace, PostgreSQL would read all rows until it has found
-- enough.
create function search_ids(kind text, workspace uuid, beginnings text[], take int) returns setof uuid language plpgsql
  stable security definer set search_path = "$user", public set enable_seqscan = 'off' set enable_bitmapscan = 'on' set jit = 'off' as $$
#variable_conflict use_column
declare
  query tsquery;
begin
  select string_agg(quote_literal(right(workspace::text, 8) || beginning) || ':*', ' & ')::tsquery into query
    from unnest(beginnings) as beginning;
  case kind
    when 'message' then
      return query with found as materialized (
        select id, workspace_id, created_at as at from search_messages where search_vector(workspace_id, searched_text(type, content, reference), null, recipient) @@ query)
      select f.id from found f where f.workspace_id = workspace order by f.at desc, f.id desc limit take;
    when 'inbound' then
      return query with found as materialized (
        select id, workspace_id, recorded_at as at from search_inbound where search_vector(workspace_id, searched_text(type, content), profile_name, sent_by) @@ query)
      select f.id from found f where f.workspace_id = workspace order by f.at desc, f.id desc limit take;
    when 'order' then
      return query with found as materialized (
        select id, workspace_id, created_at as at from search_orders where search_vector(workspace_id, searched_text(note, items, total, currency), null, null) @@ query)
      select f.id from found f where f.workspace_id = workspace order by f.at desc, f.id desc limit take;
    when 'form' then
      return query with found as materialized (
        select id, workspace_id, created_at as at from search_forms where search_vector(workspace_id, searched_text(response, flow_token), null, null) @@ query)
      select f.id from found f where f.workspace_id = workspace order by f.at desc, f.id desc limit take;
  end case;
end $$;

alter table flow_responses inherit search_forms;
alter table inbound_messages inherit search_inbound;
alter table messages inherit search_messages;
alter table orders inherit search_orders;
