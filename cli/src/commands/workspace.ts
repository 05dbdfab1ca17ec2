import { giveCredits } from '@parley/server/domain/credits/credits'
import {
  createWorkspace,
  listWorkspaces,
  resumeWorkspace,
  suspendWorkspace,
  type Workspace,
} from '@parley/server/domain/workspaces/workspaces'
import { type Command, UsageError } from '../command.ts'
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
  {
    name: 'workspace credit',
    summary: 'Give a workspace credits; a negative amount (after --) takes some back',
    args: ['ID', 'AMOUNT'],
    options: { note: { value: 'T', required: true, help: 'why; it stands in the ledger' } },
    async run({ db, clock, args: [id = '', amount = ''], option }) {
      if (!/^[+-]?\d{1,12}$/.test(amount)) throw new UsageError(`AMOUNT must be a whole number, not "${amount}".`)
      const balance = await giveCredits(await db(), clock, id, Number(amount), option('note') ?? '')
      return {
        lines: [`Workspace ${id} has ${balance} credits.`],
        json: { workspace_id: id, amount: Number(amount), balance },
      }
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
