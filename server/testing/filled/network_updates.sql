insert into network_updates (id, workspace_id, sender_id, app_id, field, outcome, paths, received_at, interpretation,
  digest, webhook)
select pg_temp.id('update', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), pg_temp.id('app', 1), 'calls',
  'unknown_field', '{calls}', pg_temp.at(4), 1, ('\x0' || w)::bytea, '{"object":"whatsapp_business_account","entry":[]}'
from generate_series(1, 2) as w;
