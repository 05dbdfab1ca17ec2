-- Removes what only served versions before 0.1.0, and the values that they left out.

-- step: concurrently
drop index concurrently deliveries_held_before;

-- step: concurrently
drop index concurrently flow_files_by_age;

-- step: transaction
-- few rows: only those that an earlier version held
update deliveries set due_at = now(), lease = null where conversation is null and due_at = 'infinity';

-- step: transaction
-- few rows: endpoints of an installation
update webhooks set disabled_at = created_at where not enabled and disabled_at is null;

-- step: transaction
-- few rows: connections of an installation
update connections set token_seen_at = token_expires_at - interval '14 days'
  where token_seen_at is null and token_expires_at is not null;

-- step: transaction
alter table delivery_attempts alter column signatures set default '';

-- step: transaction
-- few rows: attempts of earlier versions expire
update delivery_attempts set signatures = '' where signatures is null;

-- step: transaction
alter table delivery_attempts add constraint has_signatures check (signatures is not null) not valid;

-- step: transaction
alter table delivery_attempts validate constraint has_signatures;

-- step: transaction
alter table delivery_attempts alter column signatures set not null, drop constraint has_signatures;
