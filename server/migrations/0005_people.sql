-- People: who signs in to the console, how they show who they are, what they may do where, and what they did.

create table people (
  id uuid primary key,
  -- In lower case; two people never share one.
  email text not null unique,
  name text not null,
  password_hash text,
  -- Runs the installation: above all workspaces, a member of none by it.
  operator boolean not null default false,
  totp_sealed text,
  -- Null while the secret was shown and no code has come back yet.
  totp_confirmed_at timestamptz,
  -- The time step of the last code that was taken: a code is good once.
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

-- Only a digest of the token: what lies here opens nothing.
create table sessions (
  id uuid primary key,
  person_id uuid not null references people on delete cascade,
  token_digest bytea not null unique,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- When this person last showed who they are, beyond holding the cookie.
  confirmed_at timestamptz not null,
  address text,
  user_agent text
);
create index sessions_by_person on sessions (person_id);

-- What was asked of a browser and has to come back soon, once: a second factor, or a passkey's signature.
create table challenges (
  digest bytea primary key,
  kind text not null check (kind in ('second_factor', 'passkey')),
  person_id uuid references people on delete cascade,
  challenge text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index challenges_by_expiry on challenges (expires_at);

-- Wrong passwords and codes in a row, by a digest of the e-mail address; of addresses that nobody has as well.
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

-- Links that work once: to set the installation up, to join a workspace, to set a new password.
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

-- Rules a workspace has for its people, and when it wants to hear that credits run low.
alter table workspaces
  add column requires_two_factor boolean not null default false,
  add column low_balance int not null default 100 check (low_balance >= 0);

-- What people did. Written with the deed, in the same transaction, and never changed.
create table audit_entries (
  id uuid primary key,
  -- Null: it concerns the installation or a person, not a workspace.
  workspace_id uuid,
  at timestamptz not null,
  person_id uuid,
  -- Who, in words, as it was then: an e-mail address, or the command line.
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
