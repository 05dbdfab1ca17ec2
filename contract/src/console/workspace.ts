import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '../ids.ts'

/** The settings of a workspace. */
export const WorkspaceSettings = Type.Object({
  id: Uuid,
  name: Type.String(),
  requires_two_factor: Type.Boolean(),
  /** The console shows a warning below this balance. */
  low_balance: Type.Integer(),
  /** The bodies of API requests are stored, redacted. */
  request_inspector: Type.Boolean(),
  /** A setting of the installation; only the operator can change it. */
  retention_days: Type.Integer(),
  /** The same for the contents of messages. Null if they are kept as long as the messages. */
  content_retention_days: nullable(Type.Integer()),
  created_at: Timestamp,
})
export type WorkspaceSettings = Static<typeof WorkspaceSettings>

/** A workspace as the operator sees it: its totals, not its contents. */
export const OperatedWorkspace = Type.Object({
  id: Uuid,
  name: Type.String(),
  created_at: Timestamp,
  suspended_at: nullable(Timestamp),
  suspended_reason: nullable(Type.String()),
  balance: Type.Integer(),
  members: Type.Integer(),
  senders: Type.Integer(),
  keys: Type.Integer(),
  webhooks: Type.Integer(),
})
export type OperatedWorkspace = Static<typeof OperatedWorkspace>
