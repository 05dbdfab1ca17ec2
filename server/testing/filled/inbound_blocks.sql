insert into inbound_blocks (workspace_id, sender_id, type, first_at, end_at, messages, first_received_at, last_received_at,
  confirmed)
select pg_temp.id('workspace', w), '00000000-0000-0000-0000-000000000000', type, pg_temp.at(1), pg_temp.at(2), 3,
  pg_temp.at(1), pg_temp.at(2), type <> ''
from generate_series(1, 2) as w, unnest(array['', 'text']) as type;
