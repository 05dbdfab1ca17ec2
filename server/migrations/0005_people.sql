-- People: accounts for the console, sign-in, workspace memberships, and the audit log.

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
  created_at timestamptz not null
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

-- Pending sign-in steps that a browser must complete soon, and once: a second factor, or a passkey signature.
create table challenges (
  digest bytea primary key,
  kind text not null check (kind in ('second_factor', 'passkey')),
  person_id uuid references people on delete cascade,
  challenge text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index challenges_by_expiry on challenges (expires_at);

-- Failed sign-in attempts in a row, by a digest of the email address. Also for addresses without an account.
create table sign_in_tries (
  subject bytea primary key,
  failures int not null,
  last_at timestamptz not null,
  locked_until timestamptz
);

create table memberships (
  workspace_id uuid not null references workspaces,
  person_id uuid not null references people on delete cascade,
  role text not null check (role in ('admin', 'developer', 'member')),
  created_at timestamptz not null,
  primary key (workspace_id, person_id)
);
create index memberships_by_person on memberships (person_id);
select wall_off('memberships', 'workspace_id');

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
  check ((kind = 'reset') = (person_id is not null)),
  check (kind <> 'invite' or (email is not null and workspace_id is not null and role is not null))
);
create index links_by_workspace on links (workspace_id, created_at, id);
select wall_off('links', 'workspace_id');

-- Security settings of a workspace, and the balance at which it is warned about low credits.
alter table workspaces
  add column requires_two_factor boolean not null default false,
  add column low_balance int not null default 100 check (low_balance >= 0);

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
select wall_off('audit_entries', 'workspace_id');
create trigger keep_for_ever before update or delete on audit_entries
  for each row execute function keep_for_ever();
create trigger keep_all_for_ever before truncate on audit_entries
  for each statement execute function keep_for_ever();
