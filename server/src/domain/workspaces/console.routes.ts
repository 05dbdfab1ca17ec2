import { WorkspaceSettings } from '@parley/contract/console/workspace'
import { Uuid } from '@parley/contract/ids'
import { Type } from 'typebox'
import { type ConsoleRoute, operatorRoute, workspaceRoute } from '../../http/console/route.ts'
import { ById, Strict } from '../../http/console/shapes.ts'
import { changesOf } from '../../lib/changes.ts'
import { refuse } from '../../lib/refuse.ts'
import { changeSettings, type RequestRules, readSettings, type Settings } from './settings.ts'
import { createWorkspace, requireWorkspace, resumeWorkspace, suspendWorkspace } from './workspaces.ts'

const Text = Type.String({ maxLength: 1000 })

/** How long an installation stores data. */
interface Retention {
  retentionDays: number
  contentRetentionDays: number | null
}

export const workspaceConsoleRoutes = (retention: Retention, rules: RequestRules): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/settings',
    who: 'settings:manage',
    reply: WorkspaceSettings,
    handle: async ({ db, workspaceId }) => toReply(await readSettings(db, workspaceId), retention),
  }),
  workspaceRoute({
    method: 'PATCH',
    path: '/settings',
    who: 'settings:manage',
    body: Strict({
      name: Type.Optional(Text),
      requires_two_factor: Type.Optional(Type.Boolean()),
      low_balance: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
      request_inspector: Type.Optional(Type.Boolean()),
    }),
    reply: WorkspaceSettings,
    async handle({ db, clock, workspaceId, person, requireConfirmation, audit }, { body }) {
      if (body.requires_two_factor === false) requireConfirmation()
      if (body.requires_two_factor && !person.twoFactor) {
        const message =
          'Set up two-factor authentication for your own account first. Otherwise you would lock yourself out.'
        refuse('conflict', { message })
      }
      const { before, after } = await changeSettings(db, workspaceId, body)
      if (before.requestInspector && !after.requestInspector) await rules.planBodyRemoval(db, clock, workspaceId)
      const changes = changesOf(toAuditFields(before), toAuditFields(after))
      await audit({ action: 'workspace.settings', target: workspaceId, ...changes })
      return toReply(after, retention)
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/workspaces',
    body: Strict({ name: Text }),
    reply: Type.Object({ id: Uuid, name: Type.String() }),
    status: 201,
    async handle({ db, clock, audit }, { body }) {
      const { id, name } = await createWorkspace(db, clock, body.name)
      await audit({ action: 'workspace.create', target: id, targetName: name, workspaceId: id })
      return { id, name }
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/workspaces/:id/suspend',
    confirmed: true,
    params: ById,
    body: Strict({ reason: Text }),
    async handle({ db, clock, audit }, { params, body }) {
      const { id, name, suspended } = await suspendWorkspace(db, clock, params.id, body.reason)
      const after = { reason: suspended?.reason }
      await audit({ action: 'workspace.suspend', target: id, targetName: name, after, workspaceId: id })
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/workspaces/:id/resume',
    confirmed: true,
    params: ById,
    async handle({ db, audit }, { params }) {
      const { id, name, suspended } = await requireWorkspace(db, params.id)
      await resumeWorkspace(db, id)
      const before = { reason: suspended?.reason ?? null }
      await audit({ action: 'workspace.resume', target: id, targetName: name, before, workspaceId: id })
    },
  }),
]

const toAuditFields = ({ name, requiresTwoFactor, lowBalance, requestInspector }: Settings) => ({
  name,
  requires_two_factor: requiresTwoFactor,
  low_balance: lowBalance,
  request_inspector: requestInspector,
})

const toReply = (settings: Settings, { retentionDays, contentRetentionDays }: Retention): WorkspaceSettings => ({
  id: settings.id,
  ...toAuditFields(settings),
  retention_days: retentionDays,
  content_retention_days: contentRetentionDays,
  created_at: settings.createdAt.toISOString(),
})
