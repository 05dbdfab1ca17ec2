import { type Static, Type } from 'typebox'
import { Moment } from '../formats.ts'
import { nullable, Timestamp, Uuid } from '../ids.ts'

const Values = nullable(Type.Record(Type.String(), Type.Unknown()))

/** Several values are separated by commas. */
const FilterText = Type.Optional(Type.String({ minLength: 1, maxLength: 2000 }))

export const auditFilters = {
  actor: FilterText,
  /** `<noun>.<verb>`, or all actions of a noun. */
  action: FilterText,
  target: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
}

/** The maximum number of entries in an export. If there are more, the last line says so. */
export const auditExportMax = 50_000

/** An entry of the audit log. */
export const AuditEntry = Type.Object({
  id: Uuid,
  at: Timestamp,
  /** An email address, `command line (<user of the operating system>)`, or `system`. */
  actor: Type.String(),
  /** The name in the profile of that person now. Null if it was no person, or if they are no longer known. */
  actor_name: nullable(Type.String()),
  /** `<noun>.<verb>` */
  action: Type.String(),
  target: nullable(Type.String()),
  target_name: nullable(Type.String()),
  before: Values,
  after: Values,
  address: nullable(Type.String()),
  user_agent: nullable(Type.String()),
})
export type AuditEntry = Static<typeof AuditEntry>
