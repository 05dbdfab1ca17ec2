-- The search of the console by PostgreSQL's full-text search: an index on the rows themselves. The tables of words are gone.
--
-- contract: needs 23
--
-- Locks: messages, inbound_messages, orders and flow_responses exclusively, for a moment each.

-- step: transaction
drop trigger remove_words_of_sent on messages;
drop function remove_words_of_sent();

-- step: transaction
drop trigger remove_words_of_received on inbound_messages;
drop function remove_words_of_received();

-- step: transaction
drop table search_words;
drop table search_blocks;
drop table search_numbers;
drop table search_progress;
drop table search_removals;

-- step: transaction
-- What the index has of a row: words in lower case, without accents, separated by everything that is no letter or digit. Emoji, and
-- characters of scripts without spaces, are words of their own. It may find more words than the service does (words.ts), never fewer: the
-- service compares what the index finds again. A word begins with a part of the workspace, so that a search reads the words of one workspace.
-- Words of names have a "=" before them; a number is stored backwards after a "~", to find it by its last digits.
create function search_vector(workspace uuid, body text, name text, number text) returns tsvector
  language plpgsql immutable parallel safe cost 2000 as $$
declare
  mark text := ' ' || right(workspace::text, 8);
  words text := lower(concat(left(body, 4000), e'\x01', name) collate "C");
begin
  if octet_length(words) = length(words) then
    words := regexp_replace(words, '[^a-z0-9\u0001]+', ' ', 'g');
  else
    words := regexp_replace(normalize(words, NFKD),
      '[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+', '', 'g');
    words := translate(lower(words collate "C"),
      'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςøØłŁđĐðÐı',
      'абвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґαβγδεζηθικλμνξοπρστυφχψωσoollddddi');
    words := replace(replace(replace(replace(words, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
    words := replace(replace(replace(replace(words, 'ẞ', 'ss'), 'Æ', 'ae'), 'Œ', 'oe'), 'Þ', 'th');
    words := normalize(words, NFC);
    words := regexp_replace(words,
      '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2190-\u2bff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3400-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\U0001f000-\U0001faff\U00020000-\U0003ffff])',
      ' \1 ', 'g');
    words := regexp_replace(words,
      '[\u0002-\u002f\u003a-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u02b9-\u02ff\u0374-\u037e\u0387\u0482\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u0600-\u061f\u066a-\u066d\u06d4\u0964\u0965\u0970\u2000-\u206f\u20a0-\u20cf\u3000-\u3004\u3008-\u303f\ufe00-\ufe1f\ufe30-\ufe6f\uff00-\uff0f]+',
      ' ', 'g');
  end if;
  -- A word of the index has a largest length.
  if length(words) > 400 then
    words := regexp_replace(words, '([^ \u0001]{32})[^ \u0001]+', '\1', 'g');
  end if;
  return array_to_tsvector(string_to_array(
    right(mark, 8) || replace(split_part(words, e'\x01', 1), ' ', mark)
      || case when name is null then '' else mark || '=' || replace(split_part(words, e'\x01', 2), ' ', mark || '=') end
      || case when number ~ '^[0-9]' then mark || '~' || reverse(number) else '' end, ' '));
end $$;

create function searched_text(type text, content json, reference text) returns text language plpgsql immutable parallel safe as $$
begin
  if type = 'text' then
    return concat_ws(' ', content #>> '{request,text,body}', reference);
  end if;
  return concat_ws(' ', content #>> array['request', type, 'caption'], content #>> '{request,interactive,body,text}',
    content #>> '{request,location,name}', content #>> '{request,document,filename}',
    content #>> '{request,contacts,0,name,formatted_name}',
    (select string_agg(v.value, ' ') from json_each_text(case
       when json_typeof(content #> '{request,template,variables}') = 'object'
       then content #> '{request,template,variables}' end) as v), reference);
end $$;

create function searched_text(type text, content json) returns text language plpgsql immutable parallel safe as $$
begin
  if type = 'text' then
    return content ->> 'text';
  end if;
  return concat_ws(' ', content ->> 'text', content #>> '{location,name}', content #>> '{location,address}',
    content #>> '{media,filename}', content #>> '{order,text}', content #>> '{contacts,0,name}');
end $$;

create function searched_text(note text, items json, total numeric, currency text) returns text
  language plpgsql immutable parallel safe as $$
begin
  return concat_ws(' ', note, (select string_agg(i ->> 'product_id', ' ') from json_array_elements(items) as i), total, currency);
end $$;

create function searched_text(response json, flow_token text) returns text language plpgsql immutable parallel safe as $$
begin
  return concat_ws(' ', (select string_agg(v #>> '{}', ' ') from jsonb_path_query(replace(response::text, '\u0000', '')::jsonb,
    '$.** ? (@.type() == "string" || @.type() == "number")') as v), flow_token);
end $$;

-- Inserting adds a row to a list; maintenance merges it into the index every minute. The list is as large as it is so that no insert has to.
-- step: concurrently
create index concurrently messages_by_words on messages
  using gin (search_vector(workspace_id, searched_text(type, content, reference), null, recipient)) with (gin_pending_list_limit = 65536);

-- step: concurrently
create index concurrently inbound_messages_by_words on inbound_messages
  using gin (search_vector(workspace_id, searched_text(type, content), profile_name, sent_by)) with (gin_pending_list_limit = 65536);

-- step: concurrently
create index concurrently orders_by_words on orders using gin (search_vector(workspace_id, searched_text(note, items, total, currency), null, null));

-- step: concurrently
create index concurrently flow_responses_by_words on flow_responses
  using gin (search_vector(workspace_id, searched_text(response, flow_token), null, null));

-- step: transaction
-- With row-level security, PostgreSQL uses an index only for operators that are leakproof, and those of full-text search are not. The
-- policies of a table do not apply to a query of the table that it inherits from. So these are the same rows without policies.
-- Only the function below reads them, for the workspace that it is given.
create table search_messages (id uuid, workspace_id uuid, created_at timestamptz, type text, content json, reference text, recipient text);
create table search_inbound (id uuid, workspace_id uuid, recorded_at timestamptz, type text, content json, profile_name text, sent_by text);
create table search_orders (id uuid, workspace_id uuid, created_at timestamptz, note text, items json, total numeric, currency text);
create table search_forms (id uuid, workspace_id uuid, created_at timestamptz, response json, flow_token text);

revoke insert, update, delete, truncate on search_messages, search_inbound, search_orders, search_forms from current_user;

-- step: transaction
alter table messages inherit search_messages;

-- step: transaction
alter table inbound_messages inherit search_inbound;

-- step: transaction
alter table orders inherit search_orders;
alter table flow_responses inherit search_forms;

-- step: transaction
-- The newest rows of a workspace that have, for each of the texts, a word that begins with it. All matches are read, and only from the index:
-- in the order of time, or of the workspace, PostgreSQL would read all rows until it has found enough.
create function search_ids(kind text, workspace uuid, beginnings text[], take int) returns setof uuid
  language plpgsql stable security definer set search_path from current
  set enable_seqscan = off set enable_bitmapscan = on set jit = off as $$
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
