-- Until when somebody has read the conversation with a contact in the console. An empty person: all conversations of the
-- workspace. What a contact wrote before the upgrade counts as read.
create table contact_reads (
  workspace_id uuid not null,
  -- A phone number, or the network's user ID.
  person text not null,
  read_at timestamptz not null,
  primary key (workspace_id, person)
);
select isolate_workspace('contact_reads', 'workspace_id');
insert into contact_reads (workspace_id, person, read_at) select id, '', now() from workspaces;
