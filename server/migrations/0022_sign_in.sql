-- Signing in under attack, invitations that wait for a second factor, and accounts that an operator disabled.
-- All of these tables are small; the locks last as long as the statements.

-- Set: the person cannot sign in, and no link works for them.
alter table people add column disabled_at timestamptz;

-- The link that is used once the second factor is correct.
alter table challenges add column link_id uuid references links on delete cascade;

-- A challenge for adding a passkey does not serve for signing in or confirming, nor the other way around.
alter table challenges drop constraint challenges_kind_check;
alter table challenges add constraint challenges_kind_check
  check (kind in ('second_factor', 'passkey', 'new_passkey'));

-- Failed attempts of an account from all addresses together, in a window that begins with the first one. A row lasts one
-- window. No foreign key: an attempt does not wait for a transaction that holds the person.
create table account_tries (
  person_id uuid primary key,
  opened_at timestamptz not null,
  failures int not null
);

-- From now on `subject` is a known browser, a session, or a client address with one of 16 groups
-- of email addresses. There is no row per email address. Older rows are forgotten within a day.
comment on column sign_in_tries.subject is 'digest of who failed: a known browser, a session or a client address';
