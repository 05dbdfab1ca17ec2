/** A person asked for the open delivery `d` after its endpoint `w` was disabled, so it is attempted. */
export const isManualNow = `(d.trigger = 'manual' and d.due_at < 'infinity' and d.due_at >= w.disabled_at)`

/** The open delivery `d` waits until its endpoint `w` is enabled. */
export const isHeld = `(not w.enabled and not ${isManualNow})`

/** The state of the open delivery `d` to the endpoint `w`. */
export const openState = `case when ${isHeld} then 'held' when d.attempts > 0 then 'retrying' else 'pending' end`

/**
 * The only definition of a delivery's state. `d` is its row in `deliveries`, which exists while it is open; `w` is its endpoint;
 * `l` is its last attempt. A delivery without a row is finished and has the state of its last attempt.
 */
export const deliveryState = `case when d.event_id is null then l.state else ${openState} end`

/** When the next attempt is due. Null while an attempt is in flight, while the delivery is held, and when it is finished. */
export const nextAttemptAt = `case when d.lease is null and not ${isHeld} then nullif(d.due_at, 'infinity') end`

/** Since when the delivery is held: its endpoint was disabled, its event occurred, or its last manual retry failed. Null if it is not. */
export const heldSince = `case when d.event_id is not null and ${isHeld}
  then greatest(w.disabled_at, d.event_created_at, l.at) end`

/**
 * Joins the last attempt of a delivery as `l`; `l.made` is the number of its attempts. `is true` keeps PostgreSQL from looking for it
 * in the index by endpoint, which has all of its attempts.
 */
export const lastAttempt = (eventId: string, webhookId: string, since: string): string => `left join lateral (
    select a.state, a.at, a.number, a.status, a.error, a.duration_us, count(*) over () as made from delivery_attempts a
    where a.event_id = ${eventId} and (a.webhook_id = ${webhookId}) is true and a.at >= ${since}
    order by a.at desc, a.number desc limit 1) as l on true`
