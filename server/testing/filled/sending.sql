-- Message 1 quotes no message, message 2 quotes one.
insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, error, created_at, sent_at,
  delivered_at, read_at, failed_at, key_id, type, template_id, reference, credits, content)
select pg_temp.id('message ' || n, w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123', 'failed',
  'wamid.out.' || n, '{"code": 1}', pg_temp.at(1), pg_temp.at(1), pg_temp.at(1), pg_temp.at(1), pg_temp.at(2),
  pg_temp.id('key', w), 'template', pg_temp.id('template', w), 'order 7', 3,
  case n when 1 then '{"text": "hi"}'::json else '{"text": "yes", "quotedWaMessageId": "wamid.in.1"}'::json end
from generate_series(1, 2) as w, generate_series(1, 2) as n;

insert into message_statuses (message_id, workspace_id, status, occurred_at, error)
select pg_temp.id('message 1', w), pg_temp.id('workspace', w), 'failed', pg_temp.at(2), '{"code": 1}'
from generate_series(1, 2) as w;

insert into outbox (message_id, workspace_id, sender_id, recipient, due_at, expires_at, lease, last_error)
select pg_temp.id('message 1', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123', pg_temp.at(2),
  pg_temp.at(3), pg_temp.id('lease', w), '{"code": 1}'
from generate_series(1, 2) as w;

insert into sender_paces (sender_id, workspace_id, paced_until)
select pg_temp.id('sender', w), pg_temp.id('workspace', w), pg_temp.at(1) from generate_series(1, 2) as w;

insert into sending_holds (subject_id, until, failures, error)
values (pg_temp.id('sender', 1), pg_temp.at(2), 1, '{"title": "Too many messages"}');

-- Two debits and a refund on day 1, one debit on day 2.
insert into credit_balances (workspace_id, balance) select pg_temp.id('workspace', w), 1000 - 6 * w
from generate_series(1, 2) as w;
insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, note, created_at)
select pg_temp.id('entry ' || n, w), pg_temp.id('workspace', w), kind, amount, balance_after,
  case when kind <> 'grant' then pg_temp.id(message, w) end, 'invoice 7', pg_temp.at(day)
from generate_series(1, 2) as w, lateral (values
  (1, 'grant', 1000, 1000, null, 1),
  (2, 'debit', -3 * w, 1000 - 3 * w, 'message 1', 1),
  (3, 'debit', -4 * w, 1000 - 7 * w, 'message 2', 1),
  (4, 'refund', 3 * w, 1000 - 4 * w, 'message 1', 1),
  (5, 'debit', -2 * w, 1000 - 6 * w, 'message 3', 2)
) as entry(n, kind, amount, balance_after, message, day);

insert into prices (item, credits) values ('template.MARKETING', 3);

insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key', w), 'order 7', '\x01', '{}', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into idempotency_days (workspace_id, day, used)
select pg_temp.id('workspace', w), pg_temp.at(1)::date, 1 from generate_series(1, 2) as w;

insert into flow_tokens (message_id, workspace_id, sender_id, recipient, token, template_id, flow_id, created_at)
select pg_temp.id('message 1', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123', 'token',
  pg_temp.id('template', w), 'flow', pg_temp.at(1)
from generate_series(1, 2) as w;
