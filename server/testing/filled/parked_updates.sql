insert into parked_updates (id, workspace_id, connection_id, phone_number_id, received_at, digest, webhook, release_after)
select pg_temp.id('parked', w), pg_temp.id('workspace', w), pg_temp.id('connection', w), 'number 9', pg_temp.at(4),
  '\x01', '{"object":"whatsapp_business_account","entry":[]}', pg_temp.at(5)
from generate_series(1, 2) as w;

update connections set sync_asked_at = pg_temp.at(4), sync_not_before = pg_temp.at(5);
