import type { Session } from '../../../../db/connect/session.ts'
import type { Db } from '../../../../db/db.ts'
import { listenerName } from '../../../../db/notices/change-notices.ts'
import type { LoopName } from '../../../../telemetry/telemetry.ts'
import type { HandedDelivery } from '../first-attempts.ts'

/** What a process that delivers and sends tells all others, several times a second. */
export interface Announcement {
  id: string
  /** The server process of the connection on which it listens. */
  listenerPid: number
  /** Endpoints whose queues in that process take no more for now. */
  full: readonly string[]
}

/** A notice for one worker: loops to run now, and deliveries that are leased to it from now on. */
export interface WorkerNotice {
  wake?: readonly LoopName[]
  take?: readonly HandedDelivery[]
}

export interface AddressedNotice {
  to: Announcement
  notice: WorkerNotice
}

/** Sends notices. Returns the notices whose worker does not listen. */
export type SendNotices = (notices: readonly AddressedNotice[]) => Promise<readonly AddressedNotice[]>

/** On which processes with workers announce themselves. */
export const announcementChannel = 'parley_workers'

/** On which one worker gets its notices. */
export const workerChannel = (id: string): string => `parley_worker_${id.replaceAll('-', '')}`

/**
 * A commit with a notification writes to the WAL, but nothing is lost with it that the database does not find again: it need
 * not wait for the disk.
 */
const withoutWaiting = `set_config('synchronous_commit', 'off', true)`

/** Announces this process on the connection on which it listens, so that it is not announced when it does not. */
export async function announce(session: Session, { id, full }: Omit<Announcement, 'listenerPid'>): Promise<void> {
  await session.rows(
    `select ${withoutWaiting}, pg_notify($1, json_build_array($2::text, pg_backend_pid(), $3::json)::text)`,
    [announcementChannel, id, JSON.stringify(full)],
  )
}

export function readAnnouncement(payload: string): Announcement {
  const [id, listenerPid, full] = JSON.parse(payload) as [string, number, string[]]
  return { id, listenerPid, full }
}

/**
 * Notifies the workers that still listen. A notification is not part of the transaction that causes it, because PostgreSQL
 * commits transactions with notifications one after the other.
 */
export const sendNotices =
  (db: Db): SendNotices =>
  async (notices) => {
    const sent = await db.rows<{ index: number }>(
      `select n.index::int as index, ${withoutWaiting}, pg_notify(n.channel, n.payload)
       from unnest($1::int[], $2::text[], $3::text[]) with ordinality as n(pid, channel, payload, index)
       where exists (select from pg_stat_get_activity(n.pid) a where a.application_name = '${listenerName}')`,
      [
        notices.map(({ to }) => to.listenerPid),
        notices.map(({ to }) => workerChannel(to.id)),
        notices.map(({ notice }) => writeNotice(notice)),
      ],
    )
    const indexes = new Set(sent.map(({ index }) => index))
    return notices.filter((_, index) => !indexes.has(index + 1))
  }

const writeNotice = ({ wake = [], take = [] }: WorkerNotice): string =>
  JSON.stringify([wake, take.map(({ webhookId, eventId, lease }) => [webhookId, eventId, lease])])

export function readNotice(payload: string): Required<WorkerNotice> {
  const [wake, take] = JSON.parse(payload) as [Required<WorkerNotice>['wake'], [string, string, string][]]
  return { wake, take: take.map(([webhookId, eventId, lease]) => ({ webhookId, eventId, lease })) }
}
