import { type AuditEntry, auditExportMax } from '@parley/contract/console/audit'
import { valuesOf } from '@parley/contract/console/list'
import type { Db } from '../../db/db.ts'
import { exportNewestFirst } from '../../lib/csv-export.ts'
import { isoTimes } from '../../lib/iso-times.ts'
import { type AuditFilter, type AuditRow, auditPage } from './audit.ts'

/** Queries of people, passed in because this module may not import those. */
export interface AuditLookups {
  /** The names in the profiles of these people. */
  namesOf(db: Db, personIds: readonly string[]): Promise<ReadonlyMap<string, string>>
}

type AuditFilters = Partial<Record<'actor' | 'action' | 'target' | 'from' | 'to', string | undefined>>

const timeOf = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text))

export const toAuditQuery = ({ actor, action, target, from, to }: AuditFilters): AuditFilter => ({
  actors: valuesOf(actor) ?? null,
  actions: valuesOf(action) ?? null,
  target: target ?? null,
  from: timeOf(from),
  to: timeOf(to),
})

/** Makes entries of these rows, with the names of their people. */
export async function newEntryMaker(
  { namesOf }: AuditLookups,
  db: Db,
  rows: readonly AuditRow[],
): Promise<(row: AuditRow) => AuditEntry> {
  const ids = [...new Set(rows.flatMap(({ person_id: id }) => id ?? []))]
  const names = ids.length === 0 ? new Map<string, string>() : await namesOf(db, ids)
  return ({ person_id, workspace_id: _, ...row }) => ({
    ...isoTimes(row),
    actor_name: names.get(person_id ?? '') ?? null,
    before: row.before as AuditEntry['before'],
    after: row.after as AuditEntry['after'],
  })
}

const head = [
  ...(['at', 'actor', 'actor_name', 'action', 'target', 'target_name', 'before', 'after'] as const),
  ...(['address', 'user_agent'] as const),
]

/** The entries that match as CSV, newest first. */
export const exportAudit = (
  lookups: AuditLookups,
  db: Db,
  workspaceId: string,
  query: AuditFilter,
  maxRows: number = auditExportMax,
): AsyncIterable<string> =>
  exportNewestFirst({
    head,
    maxRows,
    async rows(page) {
      const rows = await auditPage(db, workspaceId, query, page)
      const toEntry = await newEntryMaker(lookups, db, rows)
      return rows.map((row) => ({ ...row, entry: toEntry(row) }))
    },
    toLines: ({ entry }) => [head.map((column) => toCell(entry[column]))],
  })

const toCell = (value: AuditEntry[(typeof head)[number]]) =>
  value !== null && typeof value === 'object' ? JSON.stringify(value) : value
