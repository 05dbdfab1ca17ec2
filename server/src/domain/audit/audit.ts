import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { type AuditFilter, type AuditRow, entriesOf, facetsOf, insertEntry } from './audit.sql.ts'

/** Who performed an action. */
export interface Actor {
  personId: string | null
  /** An email address, `command line (<user of the operating system>)`, or `system`. */
  name: string
  address: string | null
  userAgent: string | null
}

/** The service itself, such as when it disables an endpoint that keeps failing. */
export const system: Actor = { personId: null, name: 'system', address: null, userAgent: null }

export interface NewAuditEntry {
  /** `<noun>.<verb>`: key.create, webhook.disable, member.role */
  action: string
  workspaceId: string | null
  target?: string | null
  targetName?: string | null
  /** Only the changed fields, and never a secret. */
  before?: Readonly<Record<string, unknown>> | null
  after?: Readonly<Record<string, unknown>> | null
}

/** Records an action in the audit log, in the transaction that performs it. */
export async function recordAuditEntry(
  db: Db,
  clock: Pick<Clock, 'now'>,
  actor: Actor,
  entry: NewAuditEntry,
): Promise<void> {
  await insertEntry(db, {
    id: newUuid(clock.now().getTime()),
    workspace_id: entry.workspaceId,
    at: clock.now(),
    person_id: actor.personId,
    actor: actor.name,
    action: entry.action,
    target: entry.target ?? null,
    target_name: entry.targetName ?? null,
    before: entry.before ?? null,
    after: entry.after ?? null,
    address: actor.address,
    user_agent: actor.userAgent?.slice(0, 300) ?? null,
  })
  if (entry.workspaceId !== null) db.notify(entry.workspaceId, 'audit')
}

export type { AuditRow }
export type AuditQuery = AuditFilter

/** Newest first. Null: the entries that belong to no workspace. */
export const auditPage = (
  db: Db,
  workspaceId: string | null,
  query: AuditQuery,
  page: { take: number; after: { at: Date; id: string } | null },
): Promise<AuditRow[]> => entriesOf(db, workspaceId, query, page.after, page.take)

/** Null: of the entries that belong to no workspace. */
export async function auditFacets(
  db: Db,
  workspaceId: string | null,
): Promise<{ actors: string[]; actions: string[] }> {
  const pairs = await facetsOf(db, workspaceId)
  const unique = (values: string[]) => [...new Set(values)].sort()
  return { actors: unique(pairs.map(({ actor }) => actor)), actions: unique(pairs.map(({ action }) => action)) }
}
