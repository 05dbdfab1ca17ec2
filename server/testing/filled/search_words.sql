insert into search_blocks (workspace_id, block, kind, objects, first_key, last_key)
select pg_temp.id('workspace', w), 1, 'message', 2, 117000000000000000, 117000000000000009 from generate_series(1, 2) as w;

insert into search_words (workspace_id, block, word, objects)
select pg_temp.id('workspace', w), 1, word, array[117000000000000000, 117000000000000009]
from generate_series(1, 2) as w, unnest(array['hello', '=ana']) as word;

insert into search_numbers (workspace_id, number, reversed)
select pg_temp.id('workspace', w), '16505550123', '32105550561' from generate_series(1, 2) as w;

insert into search_progress (kind, newest_id, checked_id, oldest_id, began_at)
values ('message', pg_temp.id('message', 2), pg_temp.id('message', 1), pg_temp.id('message', 1), pg_temp.at(3));

insert into search_removals (workspace_id, kind, object_id, number)
select pg_temp.id('workspace', w), 'message', pg_temp.id('message', w), '16505550123' from generate_series(1, 2) as w;
