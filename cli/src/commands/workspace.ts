import { giveCredits } from '@parley/server/domain/credits/credits'
import {
  createWorkspace,
  limitEndpoints,
  listWorkspaces,
  requireWorkspace,
  resumeWorkspace,
  suspendWorkspace,
  type Workspace,
} from '@parley/server/domain/workspaces/workspaces'
import { change } from '../audit.ts'
import { type Command, UsageError } from '../command.ts'
import { formatTime, plural } from '../format.ts'
import { jsonList, table } from '../table.ts'

export const commands: readonly Command[] = [
  {
    name: 'workspace create',
    options: { name: { value: 'NAME', required: true, help: 'Name of the workspace' } },
    examples: ['workspace create --name "Acme"'],
    async run(call) {
      const workspace = await change(call, async (tx, audit) => {
        const created = await createWorkspace(tx, call.clock, call.option('name') ?? '')
        await audit({ action: 'workspace.create', ...targetOf(created) })
        return created
      })
      return { lines: [`Created workspace ${workspace.name} (${workspace.id}).`], json: toJson(workspace) }
    },
  },
  {
    name: 'workspace list',
    examples: ['workspace list'],
    async run({ db }) {
      const workspaces = await listWorkspaces(await db())
      const rows = workspaces.map(({ id, name, suspended, createdAt }) => [
        id,
        name,
        suspended ? `suspended: ${suspended.reason}` : 'active',
        formatTime(createdAt),
      ])
      const empty = 'No workspaces yet. Create one with: ./parley workspace create --name NAME'
      const lines = table(['ID', 'NAME', 'STATE', 'CREATED'], rows, empty)
      return { lines, json: jsonList(workspaces.map(toJson)) }
    },
  },
  {
    name: 'workspace suspend',
    details: 'Requests with its API keys are rejected until you resume it. Takes effect immediately.',
    args: ['ID'],
    idOf: 'workspace',
    options: { reason: { value: 'TEXT', required: true, help: 'Reason, shown in the console' } },
    examples: ['workspace suspend ID --reason "Invoice overdue"'],
    async run(call) {
      const workspace = await change(call, async (tx, audit) => {
        const suspended = await suspendWorkspace(tx, call.clock, call.args[0] ?? '', call.option('reason') ?? '')
        const after = { reason: suspended.suspended?.reason }
        await audit({ action: 'workspace.suspend', ...targetOf(suspended), after })
        return suspended
      })
      return { lines: [`Suspended workspace ${workspace.name} (${workspace.id}).`], json: toJson(workspace) }
    },
  },
  {
    name: 'workspace resume',
    args: ['ID'],
    idOf: 'workspace',
    examples: ['workspace resume ID'],
    async run(call) {
      const [id = ''] = call.args
      const workspace = await change(call, async (tx, audit) => {
        const { suspended } = await requireWorkspace(tx, id)
        const resumed = await resumeWorkspace(tx, id)
        const before = { reason: suspended?.reason ?? null }
        await audit({ action: 'workspace.resume', ...targetOf(resumed), before })
        return resumed
      })
      return { lines: [`Resumed workspace ${workspace.name} (${workspace.id}).`], json: toJson(workspace) }
    },
  },
  {
    name: 'workspace limit',
    details: 'A new workspace may have 100. Existing webhooks stay, even if they are more than the new limit.',
    args: ['ID'],
    idOf: 'workspace',
    options: { webhooks: { value: 'NUMBER', required: true, help: 'From 1 to 10000' } },
    examples: ['workspace limit ID --webhooks 250'],
    async run(call) {
      const max = Number(call.option('webhooks'))
      const workspace = await change(call, async (tx, audit) => {
        const limited = await limitEndpoints(tx, call.args[0] ?? '', max)
        await audit({ action: 'workspace.limit', ...targetOf(limited), after: { webhooks: max } })
        return limited
      })
      return {
        lines: [`Workspace ${workspace.name} (${workspace.id}) may have ${plural(max, 'webhook')}.`],
        json: { ...toJson(workspace), webhooks_max: max },
      }
    },
  },
  {
    name: 'workspace credit',
    details: 'A negative AMOUNT removes credits; put it after "--", as in the second example.',
    args: ['ID', 'AMOUNT'],
    idOf: 'workspace',
    options: { note: { value: 'TEXT', required: true, help: 'Reason, recorded in the ledger' } },
    examples: ['workspace credit ID 500 --note "Invoice 7"', 'workspace credit --note "Correction" -- ID -200'],
    async run(call) {
      const { clock, args, option } = call
      const [id = '', amount = ''] = args
      if (!/^[+-]?\d{1,12}$/.test(amount)) throw new UsageError(`Invalid AMOUNT "${amount}". Enter a whole number.`)
      const note = option('note') ?? ''
      const balance = await change(call, async (tx, audit) => {
        const left = await giveCredits(tx, clock, id, Number(amount), note)
        const after = { amount: Number(amount), note, balance: left }
        await audit({ action: 'workspace.credit', ...targetOf(await requireWorkspace(tx, id)), after })
        return left
      })
      return {
        lines: [
          `${Number(amount) < 0 ? 'Removed' : 'Added'} ${plural(Math.abs(Number(amount)), 'credit')}. New balance: ${balance}.`,
        ],
        json: { workspace_id: id, amount: Number(amount), balance },
      }
    },
  },
]

const targetOf = ({ id, name }: Workspace) => ({ target: id, targetName: name, workspaceId: id })

const toJson = ({ id, name, createdAt, suspended }: Workspace) => ({
  id,
  name,
  created_at: createdAt.toISOString(),
  suspended_at: suspended?.at.toISOString() ?? null,
  suspended_reason: suspended?.reason ?? null,
})
