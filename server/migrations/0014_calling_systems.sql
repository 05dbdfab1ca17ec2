-- A rotated key is the same calling system: all keys of a chain of rotations read each other's messages and share their
-- idempotency keys.
--
-- Locks: api_keys exclusively until the migration ends, so requests wait. It reads every entry of the audit log and rewrites
-- the idempotency keys of rotated keys: stop the service first if there are millions of either.
--
-- While a process of the version before runs: a key that it rotates gets no system_id, and stays a system of its own. It
-- also looks up and stores idempotency keys under the key itself, so a request that is repeated with the new key of a
-- rotation and reaches that process is sent again. Rotate keys after the upgrade.

-- The first key of the chain. Null if this key is the first.
-- Adding a column without a default rewrites nothing. The index is built within milliseconds: there are few keys.
alter table api_keys add column system_id uuid references api_keys;
create index api_keys_by_system on api_keys (system_id) where system_id is not null;

-- Requests with an invalid key are shown to the workspace whose key they resemble, or whose key was last used from their IP
-- address. Both tables have one row per key, so the indexes are built within milliseconds.
create index api_keys_by_hint on api_keys (hint);
create index key_usage_by_address on key_usage (last_used_address);

-- The audit log has every rotation so far.
with recursive rotations as materialized (
  select old.id as old_id, new.id as new_id
  from audit_entries e
  join api_keys old on old.id::text = e.target
  join api_keys new on new.id::text = e.after ->> 'new_key' and new.workspace_id = old.workspace_id
  where e.action = 'key.rotate'
), chains as (
  select old_id as first_id, new_id as key_id from rotations
  where old_id not in (select new_id from rotations)
  union
  select c.first_id, r.new_id from chains c join rotations r on r.old_id = c.key_id
)
update api_keys k set system_id = c.first_id from chains c where k.id = c.key_id;

-- Idempotency keys belong to the system: key_id is its first key from now on. Only rows of rotated keys change. If several
-- keys of a chain have used the same idempotency key, the first response stays, and the others expire within 25 hours.
update idempotency_keys i set key_id = f.system_id
from (
  select distinct on (k.system_id, i.idempotency_key) k.system_id, i.workspace_id, i.key_id, i.idempotency_key
  from idempotency_keys i join api_keys k on k.id = i.key_id
  where k.system_id is not null
  order by k.system_id, i.idempotency_key, i.created_at
) f
where (i.workspace_id, i.key_id, i.idempotency_key) = (f.workspace_id, f.key_id, f.idempotency_key)
  and not exists (
    select 1 from idempotency_keys taken
    where (taken.workspace_id, taken.key_id, taken.idempotency_key) = (f.workspace_id, f.system_id, f.idempotency_key));
