-- Rows of two workspaces in every table, with a value in every column.

insert into workspaces (id, name, created_at, suspended_at, suspended_reason, requires_two_factor, low_balance,
  endpoints_max, inspects_requests)
select pg_temp.id('workspace', w), 'Workspace ' || w, pg_temp.at(1), pg_temp.at(2), 'unpaid', false, 100, 100, true
from generate_series(1, 2) as w;

insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, allowed_ranges, expires_at, revoked_at,
  created_by, created_at, system_id)
select pg_temp.id('key rotated 0', w), pg_temp.id('workspace', w), 'Rotated key 0', ('\x1' || w)::bytea, 'prl_',
  '{messages:send}', 60, '{}', null, null, 'ada@example.com', pg_temp.at(0), null
from generate_series(1, 2) as w;
insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, allowed_ranges, expires_at, revoked_at,
  created_by, created_at, system_id)
select pg_temp.id('key rotated 1', w), pg_temp.id('workspace', w), 'Rotated key 1', ('\x2' || w)::bytea, 'prl_',
  '{messages:send}', 60, '{}', null, null, 'ada@example.com', pg_temp.at(1), pg_temp.id('key rotated 0', w)
from generate_series(1, 2) as w;
insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, allowed_ranges, expires_at, revoked_at,
  created_by, created_at, system_id)
select pg_temp.id('key rotated 2', w), pg_temp.id('workspace', w), 'Rotated key 2', ('\x3' || w)::bytea, 'prl_',
  '{messages:send}', 60, '{}', null, null, 'ada@example.com', pg_temp.at(2), pg_temp.id('key rotated 0', w)
from generate_series(1, 2) as w;
insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, allowed_ranges, expires_at, revoked_at,
  created_by, created_at, system_id)
select pg_temp.id('key', w), pg_temp.id('workspace', w), 'Key', ('\x4' || w)::bytea, 'prl_', '{messages:send}', 60,
  '{127.0.0.1/32}', pg_temp.at(9), pg_temp.at(8), 'the command line', pg_temp.at(1), null
from generate_series(1, 2) as w;

insert into key_usage (key_id, workspace_id, last_used_at, last_used_address)
select pg_temp.id('key', w), pg_temp.id('workspace', w), pg_temp.at(2), '127.0.0.1/32'
from generate_series(1, 2) as w;

insert into budget_windows (subject, opened_at, used, budget, granted)
values
  ('key 1', pg_temp.at(2), 3, 60, 10),
  ('key 2', pg_temp.at(2), 3, 60, 10);

insert into people (id, email, name, password_hash, operator, totp_sealed, totp_confirmed_at, totp_last_step,
  created_at, disabled_at, time_zone, email_verified_at)
select pg_temp.id('person', w), case w when 1 then 'person1@example.com' else 'person2@example.com' end, 'Ada',
  'hash', false, 'k1:sealed', pg_temp.at(1), 7, pg_temp.at(1), pg_temp.at(2),
  case w when 1 then 'Asia/Kolkata' else null end, pg_temp.at(2)
from generate_series(1, 2) as w;

insert into backup_codes (person_id, digest)
values
  (pg_temp.id('person', 1), '\x01');

insert into passkeys (id, person_id, name, credential_id, public_key, counter, transports, created_at)
values
  (pg_temp.id('passkey', 1), pg_temp.id('person', 1), 'Laptop', 'credential', '\x01', 1, '{usb}', pg_temp.at(1));

insert into sessions (id, person_id, token_digest, created_at, last_seen_at, confirmed_at, address, user_agent)
values
  (pg_temp.id('session', 1), pg_temp.id('person', 1), '\x01', pg_temp.at(1), pg_temp.at(1), pg_temp.at(1), '127.0.0.1',
    'Firefox');

insert into memberships (workspace_id, person_id, role, created_at)
select pg_temp.id('workspace', w), pg_temp.id('person', w), 'admin', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into links (id, digest, kind, email, person_id, workspace_id, role, operator, created_by, created_at,
  expires_at, used_at, mailed)
select pg_temp.id('link invite', w), ('\x1' || w)::bytea, 'invite', 'bea@example.com', null, pg_temp.id('workspace',
  w), 'member', false, 'ada@example.com', pg_temp.at(1), pg_temp.at(2), pg_temp.at(1), true
from generate_series(1, 2) as w;
insert into links (id, digest, kind, email, person_id, workspace_id, role, operator, created_by, created_at,
  expires_at, used_at, mailed)
select pg_temp.id('link reset', w), ('\x2' || w)::bytea, 'reset', 'bea@example.com', pg_temp.id('person', w),
  pg_temp.id('workspace', w), 'member', false, 'ada@example.com', pg_temp.at(1), pg_temp.at(2), pg_temp.at(1), false
from generate_series(1, 2) as w;

insert into challenges (digest, kind, person_id, challenge, created_at, expires_at, link_id)
values
  ('\x01', 'passkey', pg_temp.id('person', 1), 'challenge', pg_temp.at(1), pg_temp.at(2), pg_temp.id('link invite', 1));

insert into sign_in_tries (subject, failures, last_at, locked_until)
values
  ('\x01', 9, pg_temp.at(1), pg_temp.at(2));

insert into account_tries (person_id, opened_at, failures)
values
  (pg_temp.id('person', 1), pg_temp.at(1), 3);

insert into failed_sign_ins (person_id, began_at, failures)
select pg_temp.id('person', w), pg_temp.at(1), 7
from generate_series(1, 2) as w;

insert into audit_entries (id, workspace_id, at, person_id, actor, action, target, target_name, before, after,
  address, user_agent)
select pg_temp.id('audit entry', w), pg_temp.id('workspace', w), pg_temp.at(1), pg_temp.id('person', w),
  'ada@example.com', 'key.revoke', 'key_1', 'Key', '{}', '{}', '127.0.0.1', 'Firefox'
from generate_series(1, 2) as w;

insert into apps (id, name, graph_url, app_secret_sealed, verify_token_sealed, created_at)
values
  (pg_temp.id('app', 1), 'App', 'https://graph.example.com', 'k1:sealed', 'k1:sealed', pg_temp.at(1));

insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, synced_at, sync_error,
  sync_failures, sync_due_at, sync_ticket, sync_applied, sync_asked_at, sync_not_before, unlisted_syncs, status,
  status_reason, status_until, status_at, token_expires_at, token_seen_at)
select pg_temp.id('connection', w), pg_temp.id('workspace', w), pg_temp.id('app', 1), 'waba ' || w, 'k1:sealed',
  pg_temp.at(1), pg_temp.at(2), 'timeout', 0, pg_temp.at(3), 0, 0, pg_temp.at(4), pg_temp.at(5), 0, 'RESTRICTED',
  'restricted', pg_temp.at(3), pg_temp.at(2), pg_temp.at(60), pg_temp.at(1)
from generate_series(1, 2) as w;

insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, display_name, status,
  quality_rating, throughput, created_at, updated_at, status_reason)
select pg_temp.id('sender', w), pg_temp.id('workspace', w), pg_temp.id('connection', w), pg_temp.id('app', 1),
  'number ' || w, '1555078000' || w, 'Shop', 'CONNECTED', 'GREEN', 'STANDARD', pg_temp.at(1), pg_temp.at(2),
  'restricted'
from generate_series(1, 2) as w;

insert into templates (id, workspace_id, connection_id, network_template_id, name, language, category, status,
  rejected_reason, quality, components, content_digest, variables, flow, created_at, updated_at, removed_at,
  sub_category)
select pg_temp.id('template', w), pg_temp.id('workspace', w), pg_temp.id('connection', w), 'template ' || w,
  'welcome', 'en', 'MARKETING', 'REJECTED', 'spam', 'GREEN', '[]', 'digest', '[]', '{}', pg_temp.at(1),
  pg_temp.at(2), pg_temp.at(3), 'CUSTOM'
from generate_series(1, 2) as w;

insert into marketing_preferences (sender_id, person, workspace_id, user_id, marketing, changed_at)
select pg_temp.id('sender', w), '16505550123', pg_temp.id('workspace', w), 'US.1', 'stop', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into user_id_changes (workspace_id, old_user_id, new_user_id, changed_number, number, changed_at)
select pg_temp.id('workspace', w), 'US.1', 'US.2', true, '16505550999', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into parked_updates (id, workspace_id, connection_id, phone_number_id, received_at, digest, webhook,
  release_after)
select pg_temp.id('parked', w), pg_temp.id('workspace', w), pg_temp.id('connection', w), 'number 9', pg_temp.at(4),
  '\x01', '{"object":"whatsapp_business_account","entry":[]}', pg_temp.at(5)
from generate_series(1, 2) as w;

insert into unknown_numbers (app_id, waba_id, phone_number_id, updates, first_seen_at, last_seen_at)
values
  (pg_temp.id('app', 1), 'account 9', 'number 9', 3, pg_temp.at(4), pg_temp.at(5));

insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, error, created_at, sent_at,
  delivered_at, read_at, failed_at, key_id, type, template_id, reference, credits, content, request_id, sent_by,
  quoted_wa_message_id, recipient_user_id, pricing, content_removed_at, traceparent)
select pg_temp.id('message 1', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123', 'failed',
  'wamid.out.1', '{"code": 1}', pg_temp.at(1), pg_temp.at(1), pg_temp.at(1), pg_temp.at(1), pg_temp.at(2),
  pg_temp.id('key', w), 'template', pg_temp.id('template', w), 'order 7', 3, '{"text": "hi"}', null, null, null,
  'US.1', case w when 1 then null else '{"category":"utility","type":"regular","model":"PMP"}' end::json,
  case w when 1 then pg_temp.at(5) else null end, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
from generate_series(1, 2) as w;
insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, error, created_at, sent_at,
  delivered_at, read_at, failed_at, key_id, type, template_id, reference, credits, content, request_id, sent_by,
  quoted_wa_message_id, recipient_user_id, pricing, content_removed_at, traceparent)
select pg_temp.id('message 2', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123', 'failed',
  'wamid.out.2', '{"code": 1}', pg_temp.at(1), pg_temp.at(1), pg_temp.at(1), pg_temp.at(1), pg_temp.at(2),
  pg_temp.id('key', w), 'template', pg_temp.id('template', w), 'order 7', 3,
  '{"text": "yes", "quotedWaMessageId": "wamid.in.1"}', null, null, 'wamid.in.1', 'US.1', null, null,
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
from generate_series(1, 2) as w;
insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, error, created_at, sent_at,
  delivered_at, read_at, failed_at, key_id, type, template_id, reference, credits, content, request_id, sent_by,
  quoted_wa_message_id, recipient_user_id, pricing, content_removed_at, traceparent)
select pg_temp.id('message from the console', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123',
  'queued', null, null, pg_temp.at(3), null, null, null, null, null, 'text', null, null, 1,
  '{"text": "yes", "quotedWaMessageId": "wamid.in.2"}', pg_temp.id('request 1', w), 'ada@example.com', 'wamid.in.2',
  'US.1', case w when 1 then null else '{"category":"utility","type":"regular","model":"PMP"}' end::json, null,
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
from generate_series(1, 2) as w;
insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, error, created_at, sent_at,
  delivered_at, read_at, failed_at, key_id, type, template_id, reference, credits, content, request_id, sent_by,
  quoted_wa_message_id, recipient_user_id, pricing, content_removed_at, traceparent)
select pg_temp.id('message with a column', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123',
  'queued', null, null, pg_temp.at(3), null, null, null, null, null, 'text', null, null, 1,
  '{"text": "yes", "quotedWaMessageId": "wamid.in.3"}', null, 'ada@example.com', 'wamid.in.3', 'US.1', null, null,
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
from generate_series(1, 2) as w;

insert into message_statuses (message_id, workspace_id, status, occurred_at, error)
select pg_temp.id('message 1', w), pg_temp.id('workspace', w), 'failed', pg_temp.at(2), '{"code": 1}'
from generate_series(1, 2) as w;

insert into early_statuses (sender_id, workspace_id, wa_message_id, status, occurred_at, error, recorded_at,
  recipient_user_id, pricing)
select pg_temp.id('sender', w), pg_temp.id('workspace', w), 'wamid.early', 'failed', pg_temp.at(1), '{"code": 1}',
  pg_temp.at(1), null, '{"category":"service","type":null,"model":"CBP"}'
from generate_series(1, 2) as w;
insert into early_statuses (sender_id, workspace_id, wa_message_id, status, occurred_at, error, recorded_at,
  recipient_user_id, pricing)
select pg_temp.id('sender', w), pg_temp.id('workspace', w), 'wamid.early.2', 'sent', pg_temp.at(1), null,
  pg_temp.at(1), 'US.1', '{"category":"service","type":null,"model":"CBP"}'
from generate_series(1, 2) as w;

insert into outbox (message_id, workspace_id, sender_id, recipient, state, due_at, expires_at, attempts, lease,
  last_error)
select pg_temp.id('message 1', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123', 'waiting',
  pg_temp.at(2), pg_temp.at(3), 0, pg_temp.id('lease', w), '{"code": 1}'
from generate_series(1, 2) as w;

insert into sender_paces (sender_id, workspace_id, paced_until)
select pg_temp.id('sender', w), pg_temp.id('workspace', w), pg_temp.at(1)
from generate_series(1, 2) as w;

insert into sending_holds (subject_id, until, failures, error)
values
  (pg_temp.id('sender', 1), pg_temp.at(2), 1, '{"title": "Too many messages"}');

insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 0', w), 'of all', '\x01', '{}', pg_temp.at(0)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 0', w), 'of key 0', '\x01', '{}', pg_temp.at(0)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 0', w), 'of key 1', '\x01', '{}', pg_temp.at(1)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 0', w), 'of key 2', '\x01', '{}', pg_temp.at(2)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 0', w), 'of the first', '\x01', '{}', pg_temp.at(0)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 0', w), 'of the last two', '\x01', '{}', pg_temp.at(1)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 1', w), 'of all', '\x01', '{}', pg_temp.at(1)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 2', w), 'of all', '\x01', '{}', pg_temp.at(2)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated 2', w), 'of the last two', '\x01', '{}', pg_temp.at(2)
from generate_series(1, 2) as w;
insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key', w), 'order 7', '\x01', '{}', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into idempotency_days (workspace_id, day, used)
select pg_temp.id('workspace', w), pg_temp.at(1)::date, 1
from generate_series(1, 2) as w;

insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, type,
  received_at, recorded_at, profile_name, content, quoted_wa_message_id, content_removed_at)
select pg_temp.id('inbound 1', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), 'wamid.in.1', '16505550123',
  'user', 'text', pg_temp.at(1), pg_temp.at(1), 'Ana', '{"text": "hi"}', null,
  case w when 1 then null else pg_temp.at(5) end
from generate_series(1, 2) as w;
insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, type,
  received_at, recorded_at, profile_name, content, quoted_wa_message_id, content_removed_at)
select pg_temp.id('inbound 2', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), 'wamid.in.2', '16505550123',
  'user', 'text', pg_temp.at(1), pg_temp.at(1), 'Ana', '{"text": "yes", "quotedWaMessageId": "wamid.out"}',
  'wamid.out', null
from generate_series(1, 2) as w;
insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, type,
  received_at, recorded_at, profile_name, content, quoted_wa_message_id, content_removed_at)
select pg_temp.id('inbound with a column', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), 'wamid.in.3',
  '16505550123', null, 'text', pg_temp.at(3), pg_temp.at(3), null, '{"text": "yes"}', 'wamid.out.1', null
from generate_series(1, 2) as w;

insert into read_receipts (message_id, workspace_id, sender_id, wa_message_id, typing, requested_at, due_at,
  attempts, lease)
select pg_temp.id('inbound 1', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), 'wamid.in.1', true,
  pg_temp.at(1), pg_temp.at(1), 1, pg_temp.id('lease', w)
from generate_series(1, 2) as w;

insert into message_hours (workspace_id, hour, sent, delivered, read, failed)
select pg_temp.id('workspace', w), pg_temp.at(5), 1, 2, 3, 4
from generate_series(1, 2) as w;

insert into message_hour_changes (workspace_id, hour, sent, delivered, read, failed)
select pg_temp.id('workspace', w), pg_temp.at(5), -1, 1, 0, 0
from generate_series(1, 2) as w;

insert into credit_balances (workspace_id, balance)
select pg_temp.id('workspace', w), case w when 1 then 994 else 988 end
from generate_series(1, 2) as w;

insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, note, created_at)
select pg_temp.id('entry 2', w), pg_temp.id('workspace', w), 'debit', case w when 1 then -3 else -6 end,
  case w when 1 then 997 else 994 end, pg_temp.id('message 1', w), 'invoice 7', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into credit_days (workspace_id, day, spent, refunded)
select pg_temp.id('workspace', w), pg_temp.at(1)::date, case w when 1 then 7 else 14 end,
  case w when 1 then 3 else 6 end
from generate_series(1, 2) as w;
insert into credit_days (workspace_id, day, spent, refunded)
select pg_temp.id('workspace', w), pg_temp.at(2)::date, case w when 1 then 2 else 4 end, 0
from generate_series(1, 2) as w;

insert into credit_checks (workspace_id, checked_until, entered)
select pg_temp.id('workspace', w), pg_temp.at(2), case w when 1 then 996 else 992 end
from generate_series(1, 2) as w;

insert into prices (item, credits)
values
  ('template.MARKETING', 3);

insert into flow_tokens (message_id, workspace_id, sender_id, recipient, token, template_id, flow_id, created_at)
select pg_temp.id('message 1', w), pg_temp.id('workspace', w), pg_temp.id('sender', w), '16505550123', 'token',
  pg_temp.id('template', w), 'flow', pg_temp.at(1)
from generate_series(1, 2) as w;

insert into flow_responses (id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id, name, flow_token,
  flow_id, source_message_id, template_id, response, received_at, created_at, content_removed_at)
select pg_temp.id('response', w), pg_temp.id('workspace', w), pg_temp.id('inbound 1', w), pg_temp.id('sender', w),
  '16505550123', 'user', 'flow', 'token', 'flow', pg_temp.id('message 1', w), pg_temp.id('template', w), '{}',
  pg_temp.at(1), pg_temp.at(1), case w when 1 then pg_temp.at(5) else null end
from generate_series(1, 2) as w;

insert into orders (id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id, profile_name, catalog_id,
  note, items, total, currency, status, received_at, created_at, updated_at)
select pg_temp.id('order', w), pg_temp.id('workspace', w), pg_temp.id('inbound 2', w), pg_temp.id('sender', w),
  '16505550123', 'user', 'Ana', 'catalog', 'please', '[]', 9.90, 'EUR', 'new', pg_temp.at(1), pg_temp.at(1),
  pg_temp.at(2)
from generate_series(1, 2) as w;

insert into order_changes (id, order_id, workspace_id, old_status, new_status, changed_by, changed_at)
select pg_temp.id('order change', w), pg_temp.id('order', w), pg_temp.id('workspace', w), 'new', 'confirmed',
  'ada@example.com', pg_temp.at(2)
from generate_series(1, 2) as w;

insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, source, state,
  due_at, try_until, attempts, lease, last_error, why, content, size, chunk_bytes, content_type, fetched_at,
  created_at, object_key, object_sha256, message_id, sha256, expires_at)
select pg_temp.id('file 1', w), pg_temp.id('workspace', w), pg_temp.id('response', w), 1, pg_temp.id('sender', w),
  'photo', 'cat.png', 'image/png', '{}', 'fetched', pg_temp.at(2), pg_temp.at(3), 0, pg_temp.id('lease', w),
  'timeout', null, pg_temp.id('lease', w), 3, 1024, 'image/png', pg_temp.at(2), pg_temp.at(1), null, null, null,
  null, null
from generate_series(1, 2) as w;
insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, source, state,
  due_at, try_until, attempts, lease, last_error, why, content, size, chunk_bytes, content_type, fetched_at,
  created_at, object_key, object_sha256, message_id, sha256, expires_at)
select pg_temp.id('file 2', w), pg_temp.id('workspace', w), pg_temp.id('response', w), 2, pg_temp.id('sender', w),
  'photo', 'cat.png', 'image/png', '{}', 'gone', pg_temp.at(2), pg_temp.at(3), 0, pg_temp.id('lease', w), 'timeout',
  'expired', pg_temp.id('lease', w), 3, 1024, 'image/png', pg_temp.at(2), pg_temp.at(1), null, null, null, null, null
from generate_series(1, 2) as w;
insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, source, state,
  due_at, try_until, attempts, lease, last_error, why, content, size, chunk_bytes, content_type, fetched_at,
  created_at, object_key, object_sha256, message_id, sha256, expires_at)
select pg_temp.id('file 3', w), pg_temp.id('workspace', w), pg_temp.id('response', w), 3, pg_temp.id('sender', w),
  'photo', 'dog.png', 'image/png', null, 'fetched', pg_temp.at(2), pg_temp.at(3), 0, null, null, null,
  pg_temp.id('content', w), 3, 1024, 'image/png', pg_temp.at(2), pg_temp.at(1),
  case w when 1 then 'files/6d34da6c-b422-d3b2-58a2-4b245b50728f' else 'files/3ecbcd0c-b816-e985-d15f-e56510d08d8b' end,
  'abababababababababababababababababababababababababababababababab', null, null, null
from generate_series(1, 2) as w;
insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, source, state,
  due_at, try_until, attempts, lease, last_error, why, content, size, chunk_bytes, content_type, fetched_at,
  created_at, object_key, object_sha256, message_id, sha256, expires_at)
select pg_temp.id('media file', w), pg_temp.id('workspace', w), null, 0, pg_temp.id('sender', w), 'media',
  'image.jpg', 'image/jpeg', '{}', 'waiting', pg_temp.at(2), pg_temp.at(3), 0, null, null, null, null, null, null,
  null, null, pg_temp.at(1), null, null, pg_temp.id('inbound 1', w), null, null
from generate_series(1, 2) as w;
insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, source, state,
  due_at, try_until, attempts, lease, last_error, why, content, size, chunk_bytes, content_type, fetched_at,
  created_at, object_key, object_sha256, message_id, sha256, expires_at)
select pg_temp.id('upload', w), pg_temp.id('workspace', w), null, 0, null, 'file', 'video.mp4', 'video/mp4', null,
  'fetched', pg_temp.at(2), pg_temp.at(1), 0, null, null, null, pg_temp.id('lease', w), 3, 1024, 'video/mp4',
  pg_temp.at(2), pg_temp.at(1), null, null, null, 'abababababababababababababababababababababababababababababababab',
  pg_temp.at(31)
from generate_series(1, 2) as w;

insert into file_chunks (file_id, lease, number, workspace_id, bytes)
select pg_temp.id('file 1', w), pg_temp.id('lease', w), 0, pg_temp.id('workspace', w), '\x010203'
from generate_series(1, 2) as w;

insert into unused_objects (object_key, workspace_id, delete_at, is_deleting)
select case w when 1 then 'files/7cbfb6d4-49cd-c734-5b54-a7455c9c3245' else 'files/f1e0e9e1-bcde-caf9-fe4b-7abdb4ea30c2' end,
  pg_temp.id('workspace', w), pg_temp.at(3), case w when 1 then false else true end
from generate_series(1, 2) as w;

insert into network_media (file_id, sender_id, workspace_id, media_id, uploaded_at, lease, lease_until)
select pg_temp.id('upload', w), pg_temp.id('sender', w), pg_temp.id('workspace', w), '900000000000001',
  pg_temp.at(2), pg_temp.id('lease', w), pg_temp.at(2)
from generate_series(1, 2) as w;

insert into webhooks (id, workspace_id, name, url, secret_sealed, secret_hint, events, enabled, disabled_reason,
  last_success_at, failures, failing_since, created_at, deleted_at, next_attempt_at, staged_secret_sealed,
  staged_secret_hint, secret_changed_at, disabled_at, senders, header_names, headers_sealed, ordering)
select pg_temp.id('webhook', w), pg_temp.id('workspace', w), 'Endpoint', 'https://example.com/', 'k1:sealed', 'abcd',
  '{message.received}', true, 'failed too often', pg_temp.at(2), 20, pg_temp.at(3), pg_temp.at(1), pg_temp.at(4),
  pg_temp.at(5), 'sealed staged secret', 'whsec_new1...new2', pg_temp.at(4), pg_temp.at(5),
  '{359df64d-f850-3a31-a853-ed4e893563fe}', '{authorization}', 'sealed headers', 'conversation'
from generate_series(1, 2) as w;

select ensure_days('events', pg_temp.at(1)::date, 1);
select ensure_days('events', pg_temp.at(40)::date, 1);
insert into events (id, workspace_id, type, body, created_at, message_id, sender_id)
select pg_temp.id('event 1', w), pg_temp.id('workspace', w), 'message.received', '\x7b7d', pg_temp.at(1), null,
  pg_temp.id('sender', 1)
from generate_series(1, 2) as w;
insert into events (id, workspace_id, type, body, created_at, message_id, sender_id)
select pg_temp.id('event 40', w), pg_temp.id('workspace', w), 'message.received', '\x7b7d', pg_temp.at(40), null,
  pg_temp.id('sender', 1)
from generate_series(1, 2) as w;
insert into events (id, workspace_id, type, body, created_at, message_id, sender_id)
select pg_temp.id('event of a message', w), pg_temp.id('workspace', w), 'message.sent', '\x7b7d', pg_temp.at(1),
  pg_temp.id('message 1', w), pg_temp.id('sender', 1)
from generate_series(1, 2) as w;

insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at, lease,
  replay_id, added_by_replay, conversation, position)
select pg_temp.id('event 1', w), pg_temp.id('webhook', w), pg_temp.id('workspace', w), pg_temp.at(1), 0, 'first',
  pg_temp.at(2), pg_temp.id('lease', w), pg_temp.id('replay', 1), true, pg_temp.id('conversation', 1), 1
from generate_series(1, 2) as w;

select ensure_days('delivery_attempts', pg_temp.at(1)::date, 1);
select ensure_days('delivery_attempts', pg_temp.at(40)::date, 1);
insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state,
  address, status, error, answer, duration_us, response_headers, signatures)
select pg_temp.at(1), pg_temp.id('event 1', w), pg_temp.id('webhook', w), pg_temp.id('workspace', w), pg_temp.at(1),
  1, 'first', 'retrying', '192.0.2.1', 500, 'http', '\x6e6f', 900, 'content-type: text/plain', 't=1,v1=a
v1,b'
from generate_series(1, 2) as w;
insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state,
  address, status, error, answer, duration_us, response_headers, signatures)
select pg_temp.at(40), pg_temp.id('event 40', w), pg_temp.id('webhook', w), pg_temp.id('workspace', w),
  pg_temp.at(40), 1, 'first', 'retrying', '192.0.2.1', 500, 'http', '\x6e6f', 900, 'content-type: text/plain',
  't=1,v1=a
v1,b'
from generate_series(1, 2) as w;

select ensure_days('delivery_hours', pg_temp.at(1)::date, 1);
select ensure_days('delivery_hours', pg_temp.at(40)::date, 1);
insert into delivery_hours (hour, workspace_id, webhook_id, succeeded, failed, durations)
select pg_temp.at(1), pg_temp.id('workspace', w), pg_temp.id('webhook', w), 1, 1, '{1,1}'
from generate_series(1, 2) as w;
insert into delivery_hours (hour, workspace_id, webhook_id, succeeded, failed, durations)
select pg_temp.at(40), pg_temp.id('workspace', w), pg_temp.id('webhook', w), 1, 1, '{1,1}'
from generate_series(1, 2) as w;

insert into endpoint_visits (webhook_id, workspace_id, visit_at, step)
select pg_temp.id('webhook', w), pg_temp.id('workspace', w), pg_temp.at(5), 1
from generate_series(1, 2) as w;

insert into endpoint_steps (webhook_id, workspace_id, work, asked_at, position_at, position, done, step_at)
select pg_temp.id('webhook', w), pg_temp.id('workspace', w), 'rotate', pg_temp.at(5), pg_temp.at(4),
  pg_temp.id('event', w), case w when 1 then 1 else 2 end, pg_temp.at(5)
from generate_series(1, 2) as w;

insert into conversation_looks (webhook_id, conversation, workspace_id, look_at)
select pg_temp.id('webhook', w), pg_temp.id('conversation', w), pg_temp.id('workspace', w), pg_temp.at(5)
from generate_series(1, 2) as w;

insert into left_out_events (workspace_id, webhook_id, hour, count, is_sum)
select pg_temp.id('workspace', w), pg_temp.id('webhook', w), pg_temp.at(5), case w when 1 then 1 else 2 end, true
from generate_series(1, 2) as w;

insert into replays (id, workspace_id, webhook_id, state, since, until, event_types, senders, covers, rate,
  created_at, ended_at, total, delivered, failed, is_counted, counted_at, counted_id, position_at, position_id,
  owner, owned_until, step_at)
select pg_temp.id('replay', w), pg_temp.id('workspace', w), pg_temp.id('webhook', w), 'completed', pg_temp.at(1),
  pg_temp.at(5), '{message.received}',
  case w when 1 then '{359df64d-f850-3a31-a853-ed4e893563fe}' else '{d16c2a91-b6e4-957b-6a7f-b57dd5901648}' end::uuid[],
  'missing', 50, pg_temp.at(5), pg_temp.at(6), 2, 1, 1, true, pg_temp.at(5), pg_temp.id('event 1', w), pg_temp.at(5),
  pg_temp.id('event 1', w), pg_temp.id('process', w), pg_temp.at(6), pg_temp.at(6)
from generate_series(1, 2) as w;

insert into batch_writers (id, last_batch, recorded_at)
select pg_temp.id('writer', w), 7, pg_temp.at(5)
from generate_series(1, 2) as w;

select ensure_days('request_log', pg_temp.at(1)::date, 1);
select ensure_days('request_log', pg_temp.at(40)::date, 1);
insert into request_log (at, id, workspace_id, key_id, method, route, status, code, duration_us, address, user_agent)
select pg_temp.at(1), pg_temp.id('request 1', w), pg_temp.id('workspace', w), pg_temp.id('key', w), 'GET', '/v1/me',
  429, 'rate_limited', 900, '127.0.0.1', 'curl'
from generate_series(1, 2) as w;

select ensure_days('traffic_hours', pg_temp.at(1)::date, 1);
select ensure_days('traffic_hours', pg_temp.at(40)::date, 1);
insert into traffic_hours (hour, workspace_id, key_id, code, count)
select pg_temp.at(1), pg_temp.id('workspace', w), pg_temp.id('key', w), 'rate_limited', 1
from generate_series(1, 2) as w;
insert into traffic_hours (hour, workspace_id, key_id, code, count)
select pg_temp.at(40), pg_temp.id('workspace', w), pg_temp.id('key', w), 'rate_limited', 1
from generate_series(1, 2) as w;

select ensure_days('refusal_hours', pg_temp.at(1)::date, 1);
select ensure_days('refusal_hours', pg_temp.at(40)::date, 1);
insert into refusal_hours (hour, workspace_id, code, key_id, address, count, first_at, last_at)
select pg_temp.at(1), pg_temp.id('workspace', w), 'rate_limited', pg_temp.id('key', w), '127.0.0.1', 1,
  pg_temp.at(1), pg_temp.at(1)
from generate_series(1, 2) as w;
insert into refusal_hours (hour, workspace_id, code, key_id, address, count, first_at, last_at)
select pg_temp.at(40), pg_temp.id('workspace', w), 'rate_limited', pg_temp.id('key', w), '127.0.0.1', 1,
  pg_temp.at(40), pg_temp.at(40)
from generate_series(1, 2) as w;

insert into muted_refusals (workspace_id, code, muted_by, muted_at)
select pg_temp.id('workspace', w), 'rate_limited', 'ada@example.com', pg_temp.at(1)
from generate_series(1, 2) as w;

select ensure_days('unauthenticated_minutes', pg_temp.at(1)::date, 1);
select ensure_days('unauthenticated_minutes', pg_temp.at(2)::date, 1);
insert into unauthenticated_minutes (minute, code, client, count, logged, first_at, last_at)
values
  (pg_temp.at(1), 'invalid_key', '192.0.2.1', 12, 10, pg_temp.at(1), pg_temp.at(1)),
  (pg_temp.at(2), 'invalid_key', '192.0.2.1', 12, 10, pg_temp.at(2), pg_temp.at(2));

select ensure_days('request_errors', pg_temp.at(1)::date, 1);
insert into request_errors (at, request_id, workspace_id, target, response, response_state)
select pg_temp.at(1), pg_temp.id('request 1', w), pg_temp.id('workspace', w), '/v1/messages', '{"error":{}}',
  'stored'
from generate_series(1, 2) as w;

select ensure_days('request_bodies', pg_temp.at(1)::date, 1);
insert into request_bodies (at, request_id, workspace_id, target, request, request_state, response, response_state)
select pg_temp.at(1), pg_temp.id('request 2', w), pg_temp.id('workspace', w), '/v1/messages', '{"type":"text"}',
  'stored', '{"object":"message"}', 'stored'
from generate_series(1, 2) as w;

insert into request_body_removals (workspace_id, until)
select pg_temp.id('workspace', w), pg_temp.at(1)
from generate_series(1, 2) as w;

insert into notifications (id, workspace_id, kind, data, created_at)
select pg_temp.id('notification', w), pg_temp.id('workspace', w), 'credits_low', '{"balance": 9, "threshold": 10}',
  pg_temp.at(1)
from generate_series(1, 2) as w;

insert into notification_times (workspace_id, kind, last_at, subject)
select pg_temp.id('workspace', w), 'webhook_failing', pg_temp.at(3), 'Shop'
from generate_series(1, 2) as w;

insert into announced_expiries (subject_id, expires_at, workspace_id)
select pg_temp.id('key', w), pg_temp.at(9), pg_temp.id('workspace', w)
from generate_series(1, 2) as w;

insert into mails (id, kind, recipient, workspace_id, data, secret_sealed, created_at, due_at, expires_at, attempts,
  error)
select pg_temp.id('mail', w), 'invitation', 'bea@example.com', pg_temp.id('workspace', w), '{}', 'k1:sealed',
  pg_temp.at(1), pg_temp.at(1), pg_temp.at(8), 1, 'timeout'
from generate_series(1, 2) as w;

insert into mail_counts (subject, kind, hour, count)
values
  ('\x01', 'invitation', pg_temp.at(1), 1);

insert into mail_choices (person_id, kind, wanted)
values
  (pg_temp.id('person', 1), 'credits_low', false);

update maintenance_owner set owner_id = pg_temp.id('owner', 1), process = 'app-1:4711', since = pg_temp.at(4);

insert into maintenance_steps (step, every_ms, process, ended_at, duration_ms, succeeded_at, error)
values
  ('partitions', 60000, 'app-1:4711', pg_temp.at(5), 12, pg_temp.at(5), null),
  ('retention', 3600000, 'app-1:4711', pg_temp.at(5), 30000, pg_temp.at(4), 'canceling statement due to lock timeout');

insert into content_removals (direction, position, began_at)
select case w when 1 then 'sent' else 'received' end, pg_temp.id('message', w),
  case w when 1 then pg_temp.at(4) else pg_temp.at(5) end
from generate_series(1, 2) as w;

insert into erasures (id, workspace_id, asked_by, asked_at, number, user_id, numbers, user_ids, step_at, ended_at,
  removed)
values
  (pg_temp.id('erasure', 3), pg_temp.id('workspace', 2), 'bea@example.com', pg_temp.at(3), null, null, null, null,
    pg_temp.at(3), pg_temp.at(4), '{"messages": 5, "events": 9}');
insert into erasures (id, workspace_id, asked_by, asked_at, number, user_id, numbers, user_ids, step_at, ended_at,
  removed)
select pg_temp.id('erasure', w), pg_temp.id('workspace', w),
  case w when 1 then 'ana@example.com' else 'command line (root)' end, pg_temp.at(4),
  case w when 1 then '16505550123' else null end, case w when 1 then null else 'US.13491200000000000002' end,
  case w when 1 then '{16505550123}' else null end::text[],
  case w when 1 then '{US.13491200000000000001}' else null end::text[], pg_temp.at(5), null,
  case w when 1 then '{"messages": 2}' else '{}' end::json
from generate_series(1, 2) as w;
