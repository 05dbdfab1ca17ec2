/**
 * The state of a delivery, in one place. `d` is its row in `deliveries`, which it has while it is open; `l` is its last
 * attempt. A delivery without a row is finished, and has the state of its last attempt.
 */
export const deliveryState = `case when d.event_id is null then l.state when d.due_at = 'infinity' then 'held'
  when d.attempts > 0 then 'retrying' else 'pending' end`

/** When the next attempt is due: null while one is under way, while the delivery is held, and once it is finished. */
export const nextAttemptAt = `case when d.lease is null then nullif(d.due_at, 'infinity') end`

/** Joins the last attempt as `l`, with the number of all attempts, for the event and endpoint in these columns. */
export const lastAttempt = (eventId: string, webhookId: string, since: string): string => `left join lateral (
    select a.state, a.at, a.status, a.error, a.duration_us, count(*) over () as made from delivery_attempts a
    where a.event_id = ${eventId} and a.webhook_id = ${webhookId} and a.at >= ${since}
    order by a.at desc, a.number desc limit 1) as l on true`
