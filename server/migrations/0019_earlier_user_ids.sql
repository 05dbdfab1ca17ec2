-- A marketing message to a person must find the opt-out that they sent under an earlier user ID.

-- The table has one row per replaced ID, so building the index takes a moment. Webhooks that replace a user ID wait for it.
create index user_id_changes_by_new_id on user_id_changes (workspace_id, new_user_id);
