-- Failing endpoints get one attempt at a time, and a new secret can sign next to the old one until it is activated.
--
-- Locks: webhooks exclusively, for a moment.
--
-- While a process of the version before runs: it makes attempts to failing endpoints without waiting for a turn, and signs
-- with the current secret only. Stage a new secret after the upgrade.

-- step: transaction
alter table webhooks
  -- While an endpoint is failing: when its next attempt may begin. The claim of that attempt moves it to the end of its
  -- lease, so that no other process starts one meanwhile. Null: attempts are not limited.
  add column next_attempt_at timestamptz,
  -- The new secret of a staged rotation. Attempts are signed with both until it is activated.
  add column staged_secret_sealed text,
  add column staged_secret_hint text,
  -- When the secret was last replaced. A failed attempt that was signed before is due again immediately.
  add column secret_changed_at timestamptz;

-- step: concurrently
create index concurrently webhooks_paced on webhooks (next_attempt_at) where next_attempt_at is not null;

-- step: concurrently
-- Of a failing endpoint, manual retries and test events are claimed first.
create index concurrently deliveries_manual on deliveries (webhook_id, due_at) where trigger = 'manual';

-- step: transaction
-- Also for a staged secret, and when attempts begin or cease to be limited.
drop trigger revise_routing_changed on webhooks;
create constraint trigger revise_routing_changed after update on webhooks
  deferrable initially deferred for each row
  when ((old.enabled, old.events, old.url, old.secret_sealed, old.staged_secret_sealed, old.deleted_at,
      old.next_attempt_at is null) is distinct from
    (new.enabled, new.events, new.url, new.secret_sealed, new.staged_secret_sealed, new.deleted_at,
      new.next_attempt_at is null))
  execute function revise_routing();
