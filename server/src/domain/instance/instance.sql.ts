import type { Db } from '../../db/db.ts'

export interface SummaryRow {
  id: string
  name: string
  created_at: Date
  suspended_at: Date | null
  suspended_reason: string | null
  balance: number
  members: number
  senders: number
  keys: number
  webhooks: number
}

/** Every workspace with how much is in it, the oldest first. */
export const summaries = (db: Db): Promise<SummaryRow[]> =>
  db.rows(
    `select w.id, w.name, w.created_at, w.suspended_at, w.suspended_reason, coalesce(b.balance, 0) as balance,
       (select count(*) from memberships m where m.workspace_id = w.id) as members,
       (select count(*) from senders s where s.workspace_id = w.id and s.status <> 'DELETED') as senders,
       (select count(*) from api_keys k where k.workspace_id = w.id and k.revoked_at is null) as keys,
       (select count(*) from webhooks h where h.workspace_id = w.id and h.deleted_at is null) as webhooks
     from workspaces w left join credit_balances b on b.workspace_id = w.id order by w.created_at, w.id`,
  )
