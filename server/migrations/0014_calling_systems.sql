-- A rotated key is the same calling system: all keys of a chain of rotations read each other's messages and share their
-- idempotency keys.
--
-- Locks: api_keys exclusively for a moment. Rotated keys are locked against changes until all of them are updated. The
-- idempotency keys of rotated keys are changed in batches.
--
-- While a process of the version before runs: a key that it rotates gets no system_id, and stays a system of its own. It
-- also looks up and stores idempotency keys under the key itself, so a request that is repeated with the new key of a
-- rotation and reaches that process is sent again. Rotate keys after the upgrade.

-- step: transaction
-- The first key of the chain. Null if this key is the first. Adding a column without a default rewrites nothing.
alter table api_keys add column system_id uuid references api_keys;

-- step: concurrently
create index concurrently api_keys_by_system on api_keys (system_id) where system_id is not null;

-- Requests with an invalid key are shown to the workspace whose key they resemble, or whose key was last used from their IP
-- address.

-- step: concurrently
create index concurrently api_keys_by_hint on api_keys (hint);

-- step: concurrently
create index concurrently key_usage_by_address on key_usage (last_used_address);

-- step: transaction
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

-- step: batches of idempotency_keys
-- Idempotency keys belong to the system: key_id is its first key from now on. Only rows of rotated keys change. If several
-- keys of a chain have used the same idempotency key, the first response stays, and the others expire within 25 hours.
update idempotency_keys i set key_id = k.system_id
from api_keys k
where i.ctid >= $1 and i.ctid < $2
  and k.id = i.key_id and k.system_id is not null
  and not exists (
    select 1 from idempotency_keys taken
    where (taken.workspace_id, taken.key_id, taken.idempotency_key) = (i.workspace_id, k.system_id, i.idempotency_key))
  and not exists (
    select 1 from api_keys other
    join idempotency_keys earlier
      on (earlier.workspace_id, earlier.key_id, earlier.idempotency_key) = (i.workspace_id, other.id, i.idempotency_key)
    where other.system_id = k.system_id and (earlier.created_at, earlier.key_id) < (i.created_at, i.key_id));
