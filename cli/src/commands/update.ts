import { updateOutcomes } from '@parley/contract/network-update'
import { rereadUpdates } from '@parley/server/domain/messages/receiving/reread'
import {
  listUpdates,
  listWholeUpdates,
  requireUpdate,
  toNetworkUpdate,
  toSummary,
  type UpdateSummary,
} from '@parley/server/domain/updates/updates'
import { silentLogger } from '@parley/server/telemetry/silent-logger'
import type { Command } from '../command.ts'
import { formatTime, plural } from '../format.ts'
import { readChoice } from '../read-options.ts'
import { jsonList, table } from '../table.ts'
import { readWorkspaceFilter, workspaceFilter } from '../workspace-option.ts'

const listed = 100
const field = { value: 'FIELD', help: 'Only those of this field of WhatsApp, such as calls' }

export const commands: readonly Command[] = [
  {
    name: 'update list',
    details:
      'An update is a change in a webhook of WhatsApp that this version does not understand, or not completely. It is stored as it arrived, for as long as events are. Webhooks that subscribe to network.update get it too.',
    options: {
      field,
      outcome: { value: 'OUTCOME', help: `Only those with this outcome: ${updateOutcomes.join(', ')}` },
      workspace: workspaceFilter,
    },
    examples: ['update list', 'update list --field calls', 'update list --outcome partly_understood --json'],
    async run(call) {
      const workspace = await readWorkspaceFilter(call)
      const filter = {
        field: call.option('field'),
        outcome: readChoice('outcome', call.option('outcome'), updateOutcomes),
        workspaceId: workspace?.id,
      }
      const db = await call.db()
      if (call.flag('json')) {
        return { lines: [], json: jsonList((await listWholeUpdates(db, filter, listed)).map(toNetworkUpdate)) }
      }
      const rows = (await listUpdates(db, filter, listed)).map((each) => {
        const { id, sender_id, received_at } = toSummary(each)
        return [id, each.field, each.outcome, sender_id ?? '', formatTime(received_at), unreadOf(each)]
      })
      const headings = ['ID', 'FIELD', 'OUTCOME', 'SENDER', 'RECEIVED', 'NOT READ']
      const empty = 'No updates: this version understands what WhatsApp has sent.'
      return { lines: table(headings, rows, empty), json: null }
    },
  },
  {
    name: 'update show',
    args: ['ID'],
    examples: ['update show upd_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'],
    async run({ db, args }) {
      const row = await requireUpdate(await db(), args[0] ?? '')
      const update = toNetworkUpdate(row)
      return {
        lines: [
          `Update     ${update.id}`,
          `Field      ${update.field}`,
          `Outcome    ${update.outcome}`,
          `Workspace  ${row.workspaceId ?? 'none: its account is not connected'}`,
          `Sender     ${update.sender_id ?? 'none'}`,
          `Received   ${formatTime(update.received_at)}`,
          ...(row.paths.length > 0 ? [`Not read   ${unreadOf(row)}`] : []),
          ...JSON.stringify(update.value, null, 2).split('\n'),
        ],
        json: update,
      }
    },
  },
  {
    name: 'update reread',
    details:
      'Interprets stored updates with this version and publishes what was missed, each event once. Updates that are understood completely are removed. A new version does so by itself after it has started.',
    options: { field, workspace: workspaceFilter },
    examples: ['update reread', 'update reread --field standby'],
    async run(call) {
      const { clock, config } = call
      const workspace = await readWorkspaceFilter(call)
      const deps = { db: await call.db(), clock, log: silentLogger, publicUrl: config.publicUrl }
      const reread = await rereadUpdates(deps, { field: call.option('field'), workspaceId: workspace?.id })
      const line = `Read ${plural(reread.read, 'update')} again. ${reread.understood} ${reread.understood === 1 ? 'is' : 'are'} understood completely now.`
      const { failed } = reread
      return {
        lines: [
          line,
          ...(failed.length > 0
            ? [
                `${plural(failed.length, 'update')} failed and ${failed.length === 1 ? 'stays as it is' : 'stay as they are'}:`,
              ]
            : []),
          ...failed.map(({ update_id, reason }) => `  ${update_id}: ${reason}`),
        ],
        json: reread,
        failed: failed.length > 0,
      }
    },
  },
]

const unreadOf = ({ paths }: UpdateSummary): string => paths.join(' ')
