-- How the network billed a message: {category, type, model}. Adding a nullable column takes a lock for an instant only.
alter table messages add column pricing json;
alter table early_statuses add column pricing json;

-- Phone numbers whose updates are dropped, because their account is not connected through the app. One row for each of
-- at most about fifty numbers of an app. It belongs to no workspace; operators see it.
create table unknown_numbers (
  app_id uuid not null references apps,
  waba_id text not null,
  phone_number_id text not null,
  -- How many messages and statuses were dropped.
  updates bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (app_id, waba_id, phone_number_id)
) with (fillfactor = 50);
