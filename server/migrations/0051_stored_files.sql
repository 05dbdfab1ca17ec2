-- The quota of a workspace counts all of its files, uploaded and received. The index is in place of flow_files_uploads, which
-- has uploads only. Both are built and dropped without locks that others wait for.

-- step: concurrently
create index concurrently flow_files_stored on flow_files (workspace_id) include (id, size) where state in ('fetching', 'fetched');

-- step: concurrently
drop index concurrently flow_files_uploads;
