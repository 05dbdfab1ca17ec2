insert into people (id, email, name, password_hash, totp_sealed, totp_confirmed_at, totp_last_step, created_at)
select pg_temp.id('person', w), 'person' || w || '@example.com', 'Ada', 'hash', 'k1:sealed', pg_temp.at(1), 7, pg_temp.at(1)
from generate_series(1, 2) as w;

insert into backup_codes (person_id, digest) values (pg_temp.id('person', 1), '\x01');

insert into passkeys (id, person_id, name, credential_id, public_key, counter, transports, created_at)
values (pg_temp.id('passkey', 1), pg_temp.id('person', 1), 'Laptop', 'credential', '\x01', 1, '{usb}', pg_temp.at(1));

insert into sessions (id, person_id, token_digest, created_at, last_seen_at, confirmed_at, address, user_agent)
values (pg_temp.id('session', 1), pg_temp.id('person', 1), '\x01', pg_temp.at(1), pg_temp.at(1), pg_temp.at(1), '127.0.0.1',
  'Firefox');

insert into challenges (digest, kind, person_id, challenge, created_at, expires_at)
values ('\x01', 'passkey', pg_temp.id('person', 1), 'challenge', pg_temp.at(1), pg_temp.at(2));

insert into sign_in_tries (subject, failures, last_at, locked_until) values ('\x01', 9, pg_temp.at(1), pg_temp.at(2));

insert into memberships (workspace_id, person_id, role, created_at)
select pg_temp.id('workspace', w), pg_temp.id('person', w), 'admin', pg_temp.at(1) from generate_series(1, 2) as w;

insert into links (id, digest, kind, email, person_id, workspace_id, role, created_by, created_at, expires_at, used_at)
select pg_temp.id('link ' || kind, w), decode(md5(kind || w), 'hex'), kind, 'bea@example.com',
  case kind when 'reset' then pg_temp.id('person', w) end, pg_temp.id('workspace', w), 'member', 'ada@example.com',
  pg_temp.at(1), pg_temp.at(2), pg_temp.at(1)
from generate_series(1, 2) as w, unnest(array['invite', 'reset']) as kind;

insert into audit_entries (id, workspace_id, at, person_id, actor, action, target, target_name, before, after, address,
  user_agent)
select pg_temp.id('audit entry', w), pg_temp.id('workspace', w), pg_temp.at(1), pg_temp.id('person', w), 'ada@example.com',
  'key.revoke', 'key_1', 'Key', '{}', '{}', '127.0.0.1', 'Firefox'
from generate_series(1, 2) as w;

-- A key that was rotated twice, with idempotency keys of each: one of its own, and one that all three have used.
insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, created_by, created_at)
select pg_temp.id('key rotated ' || n, w), pg_temp.id('workspace', w), 'Rotated key ' || n,
  decode(md5('rotated key ' || n || w), 'hex'), 'prl_', '{messages:send}', 60, 'ada@example.com', pg_temp.at(n)
from generate_series(1, 2) as w, generate_series(0, 2) as n;

insert into audit_entries (id, workspace_id, at, person_id, actor, action, target, target_name, after)
select pg_temp.id('rotation ' || n, w), pg_temp.id('workspace', w), pg_temp.at(n), pg_temp.id('person', w), 'ada@example.com',
  'key.rotate', pg_temp.id('key rotated ' || n - 1, w), 'Key', json_build_object('new_key', pg_temp.id('key rotated ' || n, w))
from generate_series(1, 2) as w, generate_series(1, 2) as n;

insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
select pg_temp.id('workspace', w), pg_temp.id('key rotated ' || n, w), used, '\x01', '{}', pg_temp.at(n)
from generate_series(1, 2) as w, generate_series(0, 2) as n,
  unnest(array['of all', 'of key ' || n, case when n > 0 then 'of the last two' else 'of the first' end]) as used;
