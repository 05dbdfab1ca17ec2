import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../../db/db.ts'
import type { MoreToListen } from '../../../../db/listen-for-changes.ts'
import { subscribe } from '../../../../db/topic.ts'
import { otherProcesses, wakeHere } from '../../../../db/wake.ts'
import { newUuid } from '../../../../lib/ids.ts'
import { batched } from '../../../../sharing/batch.ts'
import type { LoopName } from '../../../../telemetry/telemetry.ts'
import type { DeliveryTaker, HandedDelivery } from '../first-attempts.ts'
import {
  type AddressedNotice,
  type Announcement,
  announce,
  announcementChannel,
  readAnnouncement,
  readNotice,
  type SendNotices,
  sendNotices,
  workerChannel,
} from './worker-notices.ts'

/** Four times the pause between two announcements: a busy process may be late. */
const silentAfterMs = 2_000
/** PostgreSQL limits a notification to 8000 bytes. A delivery has about 120. */
const handedMax = 60
/** The pause after notices were sent. Under load, notices are collected during the pause: each one is a transaction. */
const collectMs = 5
/**
 * How long one worker gets all deliveries before the next one does. So its batches are as large as with a single worker. If
 * each worker got a part of all deliveries, each would read and record as many batches, with fewer deliveries in them.
 */
const turnMs = 50

/** The other processes that deliver and send, as they announce themselves. Each piece of work goes to one of them, in turn. */
export class OtherWorkers {
  /** The ID of this process, if it announces itself. */
  readonly ownId = newUuid()
  /** The delivery worker of this process, if it takes deliveries of other processes. */
  taker: DeliveryTaker | null = null
  readonly #heard = new Map<string, Announcement & { atMs: number }>()
  #turn = 0
  #turnEndsMs = 0
  readonly #waitingWakes = new Set<LoopName>()
  readonly #queue: (item: AddressedNotice) => Promise<boolean>

  constructor(send: SendNotices) {
    this.#queue = batched(async (notices: AddressedNotice[]) => {
      for (const { notice } of notices) for (const loop of notice.wake ?? []) this.#waitingWakes.delete(loop)
      const joined = join(notices)
      const unsent = new Set(await send(joined.map(({ whole }) => whole)))
      for (const { to } of unsent) this.#heard.delete(to.id)
      await sleep(collectMs, undefined, { ref: false })
      const failed = new Set(joined.flatMap(({ whole, parts }) => (unsent.has(whole) ? parts : [])))
      return notices.map((each) => !failed.has(each))
    })
  }

  onAnnouncement(announcement: Announcement): void {
    if (announcement.id !== this.ownId) this.#heard.set(announcement.id, { ...announcement, atMs: performance.now() })
  }

  /** The workers that announced themselves recently. */
  live(): Announcement[] {
    const since = performance.now() - silentAfterMs
    for (const [id, { atMs }] of this.#heard) if (atMs < since) this.#heard.delete(id)
    return [...this.#heard.values()]
  }

  /** Runs a loop of another process now. Returns whether there is one. */
  wake(loop: LoopName): boolean {
    const to = this.#next(this.live())
    if (!to) return false
    if (this.#waitingWakes.has(loop)) return true
    this.#waitingWakes.add(loop)
    this.#queue({ to, notice: { wake: [loop] } }).then(
      (isSent) => isSent || this.wake(loop),
      // The database is unreachable. The loop runs at its next poll.
      () => {},
    )
    return true
  }

  /**
   * Hands over deliveries that were committed with a lease. Each endpoint's go to a worker that takes more of them. Calls
   * `onRefused` with the deliveries that no worker was notified of. If the connection is lost, it is unknown whether they
   * were sent; then their leases have to end first.
   */
  handOver(items: readonly HandedDelivery[], onRefused: (items: readonly HandedDelivery[]) => void): void {
    const live = this.live()
    for (const [webhookId, ofEndpoint] of Map.groupBy(items, (item) => item.webhookId)) {
      const free = live.filter(({ full }) => !full.includes(webhookId))
      for (let from = 0; from < ofEndpoint.length; from += handedMax) {
        const part = ofEndpoint.slice(from, from + handedMax)
        const to = this.#next(free.length > 0 ? free : live)
        if (!to) onRefused(part)
        else
          this.#queue({ to, notice: { take: part } }).then(
            (isSent) => isSent || this.handOver(part, onRefused),
            () => {},
          )
      }
    }
  }

  #next(workers: readonly Announcement[]): Announcement | undefined {
    const now = performance.now()
    if (now >= this.#turnEndsMs) {
      this.#turn++
      this.#turnEndsMs = now + turnMs
    }
    return workers[this.#turn % workers.length]
  }
}

/** The other workers of this database, for code that wakes their loops too. */
export function newOtherWorkers(db: Db): OtherWorkers {
  const others = new OtherWorkers(sendNotices(db))
  subscribe(db, otherProcesses, others)
  return others
}

/** Announces the worker of this process, and listens for announcements and for notices to it. */
export const workerChannels = (db: Db, others: OtherWorkers): MoreToListen => ({
  channels: {
    [announcementChannel]: (payload) => others.onAnnouncement(readAnnouncement(payload)),
    [workerChannel(others.ownId)]: (payload) => {
      const { wake, take } = readNotice(payload)
      for (const loop of wake) wakeHere(db, loop)
      if (take.length > 0) others.taker?.receive(take)
    },
  },
  announce(session) {
    const full = others.taker?.full()
    return full ? announce(session, { id: others.ownId, full }) : null
  },
})

/** Joins the notices for each worker into as few as possible. */
function join(notices: readonly AddressedNotice[]): { whole: AddressedNotice; parts: AddressedNotice[] }[] {
  const joined: { to: Announcement; wake: LoopName[]; take: HandedDelivery[]; parts: AddressedNotice[] }[] = []
  const open = new Map<string, (typeof joined)[number]>()
  for (const each of notices) {
    const { wake = [], take = [] } = each.notice
    let into = open.get(each.to.id)
    if (!into || into.take.length + take.length > handedMax) {
      into = { to: each.to, wake: [], take: [], parts: [] }
      joined.push(into)
      open.set(each.to.id, into)
    }
    into.wake.push(...wake)
    into.take.push(...take)
    into.parts.push(each)
  }
  return joined.map(({ to, wake, take, parts }) => ({ whole: { to, notice: { wake, take } }, parts }))
}
