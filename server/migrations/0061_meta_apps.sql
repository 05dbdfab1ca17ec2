-- The ID of the app at Meta. Null: not known, for apps that were registered without it.
alter table apps add column meta_app_id text;
