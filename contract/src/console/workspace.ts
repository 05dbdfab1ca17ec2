import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '../ids.ts'

/** What an admin sets for a workspace. */
export const WorkspaceSettings = Type.Object({
  id: Uuid,
  name: Type.String(),
  requires_two_factor: Type.Boolean(),
  /** Below this many credits the console warns. */
  low_balance: Type.Integer(),
  /** The installation's; only the operator sets it. */
  retention_days: Type.Integer(),
  created_at: Timestamp,
})
export type WorkspaceSettings = Static<typeof WorkspaceSettings>

/** A workspace as the operator of the installation sees it: that it is there, not what is in it. */
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
