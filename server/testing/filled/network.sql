insert into apps (id, name, graph_url, app_secret_sealed, verify_token_sealed, created_at)
values (pg_temp.id('app', 1), 'App', 'https://graph.example.com', 'k1:sealed', 'k1:sealed', pg_temp.at(1));

insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, synced_at, sync_error, sync_due_at)
select pg_temp.id('connection', w), pg_temp.id('workspace', w), pg_temp.id('app', 1), 'waba ' || w, 'k1:sealed',
  pg_temp.at(1), pg_temp.at(2), 'timeout', pg_temp.at(3)
from generate_series(1, 2) as w;

insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, display_name, status,
  quality_rating, throughput, created_at, updated_at)
select pg_temp.id('sender', w), pg_temp.id('workspace', w), pg_temp.id('connection', w), pg_temp.id('app', 1),
  'number ' || w, '1555078000' || w, 'Shop', 'CONNECTED', 'GREEN', 'STANDARD', pg_temp.at(1), pg_temp.at(2)
from generate_series(1, 2) as w;

insert into templates (id, workspace_id, connection_id, network_template_id, name, language, category, status,
  rejected_reason, quality, components, content_digest, variables, flow, created_at, updated_at, removed_at)
select pg_temp.id('template', w), pg_temp.id('workspace', w), pg_temp.id('connection', w), 'template ' || w, 'welcome',
  'en', 'MARKETING', 'REJECTED', 'spam', 'GREEN', '[]', 'digest', '[]', '{}', pg_temp.at(1), pg_temp.at(2), pg_temp.at(3)
from generate_series(1, 2) as w;

insert into early_statuses (sender_id, workspace_id, wa_message_id, status, occurred_at, error, recorded_at)
select pg_temp.id('sender', w), pg_temp.id('workspace', w), 'wamid.early', 'failed', pg_temp.at(1), '{"code": 1}', pg_temp.at(1)
from generate_series(1, 2) as w;

-- Message 1 quotes no message, message 2 quotes one.
insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, type, received_at,
  recorded_at, profile_name, content)
select pg_temp.id('inbound ' || n, w), pg_temp.id('workspace', w), pg_temp.id('sender', w), 'wamid.in.' || n, '16505550123',
  'user', 'text', pg_temp.at(1), pg_temp.at(1), 'Ana',
  case n when 1 then '{"text": "hi"}'::json else '{"text": "yes", "quotedWaMessageId": "wamid.out"}'::json end
from generate_series(1, 2) as w, generate_series(1, 2) as n;

select ensure_days('events', pg_temp.at(1)::date, 2);
insert into events (id, workspace_id, type, body, created_at)
select pg_temp.id('event ' || day, w), pg_temp.id('workspace', w), 'message.received', '{}', pg_temp.at(day)
from generate_series(1, 2) as w, unnest(array[1, 40]) as day;

insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at, lease)
select pg_temp.id('event 1', w), pg_temp.id('webhook', w), pg_temp.id('workspace', w), pg_temp.at(1), pg_temp.at(2),
  pg_temp.id('lease', w)
from generate_series(1, 2) as w;

select ensure_days('delivery_attempts', pg_temp.at(1)::date, 2);
insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, address,
  status, error, answer, duration_us)
select pg_temp.at(day), pg_temp.id('event ' || day, w), pg_temp.id('webhook', w), pg_temp.id('workspace', w),
  pg_temp.at(day), 1, 'first', 'retrying', '192.0.2.1', 500, 'http', 'no', 900
from generate_series(1, 2) as w, unnest(array[1, 40]) as day;
