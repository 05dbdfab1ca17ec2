-- Workspaces, the people who use the console, API keys, and the audit log.

create table workspaces (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null,
  suspended_at timestamptz,
  suspended_reason text,
  requires_two_factor boolean not null default false,
  -- The balance at which it is warned about low credits.
  low_balance int not null default 100 check (low_balance >= 0),
  endpoints_max int not null default 100 check (endpoints_max > 0),
  -- Whether request and response bodies are stored.
  inspects_requests boolean not null default false
);
select isolate_workspace('workspaces', 'id');
-- Deferred to the commit, so that a transaction holds the lock on the revision only for a moment.
create constraint trigger revise_access after insert or delete or update on workspaces
  deferrable initially deferred for each row execute function revise_access();

create table api_keys (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  name text not null,
  digest bytea not null unique,
  hint text not null,
  scopes text[] not null,
  budget smallint not null check (budget >= 1 and budget <= 100),
  allowed_ranges text[] not null default '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  -- The first key of a chain of rotations; null if this key is the first. All keys of a chain are one calling system:
  -- they read each other's messages and share their idempotency keys.
  system_id uuid references api_keys
);
create index api_keys_by_workspace on api_keys (workspace_id, created_at, id);
create index api_keys_by_system on api_keys (system_id) where system_id is not null;
-- Requests with an invalid key are shown to the workspace whose key they resemble, or whose key was last used from
-- their IP address.
create index api_keys_by_hint on api_keys (hint);
select isolate_workspace('api_keys', 'workspace_id');
create constraint trigger revise_access after insert or delete or update on api_keys
  deferrable initially deferred for each row execute function revise_access();

create table key_usage (
  key_id uuid primary key references api_keys,
  workspace_id uuid not null,
  last_used_at timestamptz not null,
  last_used_address inet not null
) with (fillfactor = 70);
select isolate_workspace('key_usage', 'workspace_id');

-- Incremented by every change to keys and workspaces that affects access. A process compares the value with that of its
-- cached copy to see whether the copy is still valid.
create table access_revision (
  only_row boolean primary key default true check (only_row),
  value bigint not null
);
insert into access_revision (value) values (1);

-- The use of each rate limit in its current minute. Unlogged: after a crash of PostgreSQL the windows start again.
create unlogged table budget_windows (
  subject text primary key,
  opened_at timestamptz not null,
  used int not null,
  budget int not null,
  granted int not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.5);

create table people (
  id uuid primary key,
  -- In lower case, and unique.
  email text not null unique,
  name text not null,
  password_hash text,
  -- An operator manages the installation. This does not make them a member of any workspace.
  operator boolean not null default false,
  totp_sealed text,
  -- Null until the person has confirmed the secret with a code.
  totp_confirmed_at timestamptz,
  -- The time step of the last accepted code. Each code works once.
  totp_last_step bigint,
  created_at timestamptz not null,
  -- Set: the person cannot sign in, and no link works for them.
  disabled_at timestamptz,
  -- The time zone in which the person sees the console. Null: that of the browser.
  time_zone text,
  -- When the owner of the address set the password with a link that was sent to the address and shown to no one. Null:
  -- unverified.
  email_verified_at timestamptz
);

create table backup_codes (
  person_id uuid not null references people on delete cascade,
  digest bytea not null,
  primary key (person_id, digest)
);

create table passkeys (
  id uuid primary key,
  person_id uuid not null references people on delete cascade,
  name text not null,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null
);
create index passkeys_by_person on passkeys (person_id);

-- Only a digest of the token is stored, so a copy of this table cannot be used to sign in.
create table sessions (
  id uuid primary key,
  person_id uuid not null references people on delete cascade,
  token_digest bytea not null unique,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- When the person last confirmed their identity, with a password or a passkey.
  confirmed_at timestamptz not null,
  address text,
  user_agent text
);
create index sessions_by_person on sessions (person_id);

create table memberships (
  workspace_id uuid not null references workspaces,
  person_id uuid not null references people on delete cascade,
  role text not null check (role in ('admin', 'developer', 'member')),
  created_at timestamptz not null,
  primary key (workspace_id, person_id)
);
create index memberships_by_person on memberships (person_id);
select isolate_workspace('memberships', 'workspace_id');

-- Single-use links: to set up the installation, to join a workspace, to reset a password.
create table links (
  id uuid primary key,
  digest bytea not null unique,
  kind text not null check (kind in ('setup', 'invite', 'reset')),
  email text,
  person_id uuid references people on delete cascade,
  workspace_id uuid references workspaces,
  role text check (role in ('admin', 'developer', 'member')),
  operator boolean not null default false,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- It was sent to the address and shown to no one.
  mailed boolean not null default false,
  check ((kind = 'reset') = (person_id is not null)),
  check (kind <> 'invite' or email is not null and workspace_id is not null and role is not null)
);
create index links_by_workspace on links (workspace_id, created_at, id);
select isolate_workspace('links', 'workspace_id');

-- Pending sign-in steps that a browser must complete soon, and once: a second factor, or a passkey signature.
create table challenges (
  digest bytea primary key,
  kind text not null check (kind in ('second_factor', 'passkey', 'new_passkey')),
  person_id uuid references people on delete cascade,
  challenge text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The link that is used once the second factor is correct.
  link_id uuid references links on delete cascade
);
create index challenges_by_expiry on challenges (expires_at);

-- Failed sign-in attempts in a row, of a known browser, a session, or a client address with one of 16 groups of email
-- addresses.
create table sign_in_tries (
  subject bytea primary key,
  failures int not null,
  last_at timestamptz not null,
  locked_until timestamptz
);
comment on column sign_in_tries.subject is 'digest of who failed: a known browser, a session or a client address';

-- Failed attempts of an account from all addresses together, in a window that begins with the first one. A row lasts
-- one window. No foreign key: an attempt does not wait for a transaction that holds the person.
create table account_tries (
  person_id uuid primary key,
  opened_at timestamptz not null,
  failures int not null
);

-- Failed sign-ins of a person within an hour. The first ones have an audit entry each; the others are only counted
-- here, and one entry says how many there were.
create table failed_sign_ins (
  person_id uuid primary key references people on delete cascade,
  began_at timestamptz not null,
  failures int not null
);

-- The audit log. An entry is written in the same transaction as the action, and never changed.
create table audit_entries (
  id uuid primary key,
  -- Null if the action concerns the installation or a person, not a workspace.
  workspace_id uuid,
  at timestamptz not null,
  person_id uuid,
  -- The email address at that time, or the command line.
  actor text not null,
  action text not null,
  target text,
  target_name text,
  before json,
  after json,
  address text,
  user_agent text
);
create index audit_entries_by_workspace on audit_entries (workspace_id, at desc, id desc);
create index audit_entries_by_person on audit_entries (person_id, at desc, id desc);
-- The log is filtered by person, action and target. Entries are few, so an index for each costs little.
create index audit_entries_by_actor on audit_entries (workspace_id, actor, at desc, id desc);
-- With text_pattern_ops, so that the actions of a noun are a range in every collation.
create index audit_entries_by_action on audit_entries (workspace_id, action text_pattern_ops, at desc, id desc);
create index audit_entries_by_target on audit_entries (workspace_id, target, at desc, id desc)
  where target is not null;
select isolate_workspace('audit_entries', 'workspace_id');
-- Triggers refuse changes. Without the privilege, the service cannot even try.
revoke update, delete, truncate on audit_entries from current_user;
create trigger keep_for_ever before delete or update on audit_entries for each row execute function keep_for_ever();
create trigger keep_all_for_ever before truncate on audit_entries for each statement execute function keep_for_ever();
