import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '../ids.ts'

const Values = nullable(Type.Record(Type.String(), Type.Unknown()))

/** An entry of the audit log. */
export const AuditEntry = Type.Object({
  id: Uuid,
  at: Timestamp,
  /** An email address, `command line (<user of the operating system>)`, or `system`. */
  actor: Type.String(),
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
