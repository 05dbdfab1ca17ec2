-- The audit log is filtered by person, action and target. Without an index, a rare value reads all entries. Entries are written when a
-- person does something, so a few more indexes cost little. They are built concurrently: nothing waits for them.

-- step: concurrently
create index concurrently audit_entries_by_actor on audit_entries (workspace_id, actor, at desc, id desc);

-- With text_pattern_ops, so that the actions of a noun are a range in every collation.
-- step: concurrently
create index concurrently audit_entries_by_action on audit_entries (workspace_id, action text_pattern_ops, at desc, id desc);

-- step: concurrently
create index concurrently audit_entries_by_target on audit_entries (workspace_id, target, at desc, id desc) where target is not null;
