insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, type, received_at,
  recorded_at, profile_name, content, source)
select pg_temp.id('echo', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), 'wamid.echo', '16505550123', 'user',
  'text', pg_temp.at(1), pg_temp.at(1), 'Ana', '{"text": "We are open."}', 'business_app'
from generate_series(1, 2) as w;

insert into handovers (sender_id, person, occurred_at, change, workspace_id, user_id, previous_owner, new_owner)
select pg_temp.id('sender', w), '16505550123', pg_temp.at(1), 'passed', pg_temp.id('workspace', w), 'user', 'agent',
  'primary'
from generate_series(1, 2) as w;

insert into saved_contacts (sender_id, person, workspace_id, user_id, name, changed_at)
select pg_temp.id('sender', w), '16505550123', pg_temp.id('workspace', w), 'user', 'Ana of the bakery', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into history_chunks (sender_id, phase, chunk_order, progress, workspace_id, imported_at)
select pg_temp.id('sender', w), 0, 1, 55, pg_temp.id('workspace', w), pg_temp.at(1)
from generate_series(1, 2) as w;
