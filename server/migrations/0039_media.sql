-- Files of inbound messages, and files that are uploaded to be sent. They are stored like the files of forms, in the same
-- tables: flow_files has a row for each file, file_chunks its bytes.
--
--   a file of a form       has a response_id
--   of an inbound message  has a message_id
--   an upload              has expires_at. While it is being received it is fetching; as its try_until is past, a process
--                          that claims it after its lease has ended gives it up and deletes its chunks
--
-- Processes of the version before fetch files of inbound messages too: they read only the columns that they know.
--
-- Locks: flow_files exclusively, for a moment.

-- step: transaction
alter table flow_files
  alter column response_id drop not null,
  alter column sender_id drop not null,
  -- The inbound message. No foreign key may refer to inbound_messages.
  add column message_id uuid,
  -- In hex; of uploads only.
  add column sha256 text,
  add column expires_at timestamptz,
  add constraint flow_files_belong check (num_nonnulls(response_id, message_id, expires_at) = 1) not valid;

-- step: transaction
alter table flow_files validate constraint flow_files_belong;

-- step: concurrently
create unique index concurrently flow_files_by_message on flow_files (message_id) where message_id is not null;

-- step: concurrently
-- How much each workspace has stored.
create index concurrently flow_files_uploads on flow_files (workspace_id) include (size)
  where expires_at is not null and state in ('fetching', 'fetched');

-- step: concurrently
create index concurrently flow_files_by_expiry on flow_files (state, expires_at) where expires_at is not null;

-- step: concurrently
-- In place of flow_files_by_age, which the version before uses: uploads have their own retention.
create index concurrently flow_files_received_by_age on flow_files (fetched_at)
  where state = 'fetched' and expires_at is null;

-- step: transaction
-- The network's IDs of uploads: a number can only send what was uploaded for it. One process at a time uploads, until
-- lease_until.
create table network_media (
  file_id uuid not null references flow_files,
  sender_id uuid not null references senders,
  workspace_id uuid not null references workspaces,
  media_id text,
  uploaded_at timestamptz,
  lease uuid,
  lease_until timestamptz not null,
  primary key (file_id, sender_id)
);
select isolate_workspace('network_media', 'workspace_id');
