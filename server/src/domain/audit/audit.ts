import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { facetsOf, insertEntry } from './audit.sql.ts'

export { type AuditFilter, type AuditRow, auditPage } from './audit.sql.ts'

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

/** Null: of the entries that belong to no workspace. */
export async function auditFacets(
  db: Db,
  workspaceId: string | null,
): Promise<{ actors: string[]; actions: string[] }> {
  const pairs = await facetsOf(db, workspaceId)
  const unique = (values: string[]) => [...new Set(values)].sort()
  return { actors: unique(pairs.map(({ actor }) => actor)), actions: unique(pairs.map(({ action }) => action)) }
}
