-- Functions that several tables use.

-- Turns on row-level security: a connection sees only the rows of the workspace in the setting parley.workspace, or all
-- rows if the setting is 'all'. Without the setting it sees no rows.
create function isolate_workspace(relation regclass, owner_column text) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', relation);
  execute format('alter table %s force row level security', relation);
  execute format(
    'create policy wall on %s using ((select current_setting(''parley.workspace'', true)) in (''all'', %I::text))',
    relation, owner_column);
end $$;

-- Row-level security of a partitioned table does not apply to direct queries of its partitions. So no role, not even
-- the owner, may read a partition directly. Inserts are allowed, because COPY does not work with row-level security.
create function only_through_whole(partition regclass) returns void language plpgsql as $$
begin
  execute format('revoke select, update, delete on %s from current_user', partition);
end $$;

-- Creates daily partitions without blocking readers or writers. There is no default partition: PostgreSQL would have to
-- lock and read it for each new partition, and could not detach partitions concurrently. The time limit is for those
-- who have to wait behind its locks.
create function ensure_days(parent text, first_day date, days int) returns void language plpgsql
  set lock_timeout = '500ms' as $$
declare
  day date;
  partition text;
begin
  perform pg_advisory_xact_lock(hashtext('ensure_days'));
  for day in select first_day + n from generate_series(0, days - 1) as n loop
    partition := parent || '_' || to_char(day, 'YYYYMMDD');
    continue when to_regclass(format('%I', partition)) is not null;
    begin
      execute format('create table %I (like %I including all excluding indexes)', partition, parent);
      perform only_through_whole(format('%I', partition)::regclass);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, partition,
        day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    exception when duplicate_table then
      -- Another process created it just before we got the lock. The check above may have used a stale catalog cache.
      null;
    end;
  end loop;
end $$;

-- Counts changes of keys and workspaces, once per transaction, at commit.
create function revise_access() returns trigger language plpgsql as $$
begin
  if current_setting('parley.revised', true) is distinct from pg_current_xact_id()::text then
    perform set_config('parley.revised', pg_current_xact_id()::text, true);
    update access_revision set value = value + 1;
  end if;
  return null;
end $$;

-- Counts changes that affect how webhooks of the network are routed and what is sent to endpoints, once per
-- transaction, at commit.
create function revise_routing() returns trigger language plpgsql as $$
begin
  if current_setting('parley.rerouted', true) is distinct from pg_current_xact_id()::text then
    perform set_config('parley.rerouted', pg_current_xact_id()::text, true);
    update routing_revision set value = value + 1;
  end if;
  return null;
end $$;

-- For tables whose rows are never changed or deleted.
create function keep_for_ever() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
end $$;

-- What the index has of a row: words in lower case, without accents, separated by everything that is no letter or
-- digit. Emoji, and characters of scripts without spaces, are words of their own. It may find more words than the
-- service does (words.ts), never fewer: the service compares what the index finds again. A word begins with a part of
-- the workspace, so that a search reads the words of one workspace. Words of names have a "=" before them; a number is
-- stored backwards after a "~", to find it by its last digits.
create function search_vector(workspace uuid, body text, name text, number text) returns tsvector language plpgsql
  immutable parallel safe cost 2000 as $$
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

create function searched_text(type text, content json, reference text) returns text language plpgsql
  immutable parallel safe as $$
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

create function searched_text(note text, items json, total numeric, currency text) returns text language plpgsql
  immutable parallel safe as $$
begin
  return concat_ws(' ', note, (select string_agg(i ->> 'product_id', ' ') from json_array_elements(items) as i), total, currency);
end $$;

create function searched_text(response json, flow_token text) returns text language plpgsql
  immutable parallel safe as $$
begin
  return concat_ws(' ', (select string_agg(v #>> '{}', ' ') from jsonb_path_query(replace(response::text, '\u0000', '')::jsonb,
    '$.** ? (@.type() == "string" || @.type() == "number")') as v), flow_token);
end $$;
