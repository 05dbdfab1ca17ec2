import {
  createWorkspace,
  listWorkspaces,
  resumeWorkspace,
  suspendWorkspace,
  type Workspace,
} from '@parley/server/domain/workspaces/workspaces'
import type { Command } from '../command.ts'
import { jsonList, table } from '../table.ts'

export const workspaceCommands: readonly Command[] = [
  {
    name: 'workspace create',
    summary: 'Make a workspace',
    options: { name: { value: 'N', required: true, help: 'its name' } },
    async run({ db, clock, option }) {
      const workspace = await createWorkspace(await db(), clock, option('name') ?? '')
      return { lines: [`Workspace ${workspace.id} made.`], json: toJson(workspace) }
    },
  },
  {
    name: 'workspace list',
    summary: 'Show every workspace',
    async run({ db }) {
      const workspaces = await listWorkspaces(await db())
      const rows = workspaces.map(({ id, name, suspended, createdAt }) => [
        id,
        name,
        suspended ? `suspended: ${suspended.reason}` : 'active',
        createdAt.toISOString(),
      ])
      const lines = table(['ID', 'NAME', 'STATE', 'CREATED'], rows, 'There is no workspace yet.')
      return { lines, json: jsonList(workspaces.map(toJson)) }
    },
  },
  {
    name: 'workspace suspend',
    summary: 'Refuse every request of a workspace’s keys, from the next one on',
    args: ['ID'],
    options: { reason: { value: 'R', required: true, help: 'why; shown in the console' } },
    async run({ db, clock, args: [id = ''], option }) {
      const workspace = await suspendWorkspace(await db(), clock, id, option('reason') ?? '')
      return { lines: [`Workspace ${workspace.id} is suspended.`], json: toJson(workspace) }
    },
  },
  {
    name: 'workspace resume',
    summary: 'End a suspension',
    args: ['ID'],
    async run({ db, args: [id = ''] }) {
      const workspace = await resumeWorkspace(await db(), id)
      return { lines: [`Workspace ${workspace.id} is active.`], json: toJson(workspace) }
    },
  },
]

const toJson = ({ id, name, createdAt, suspended }: Workspace) => ({
  id,
  name,
  created_at: createdAt.toISOString(),
  suspended_at: suspended?.at.toISOString() ?? null,
  suspended_reason: suspended?.reason ?? null,
})
