import type { WhyReport, WhyStation, WhyVerdict } from '@parley/contract/console/why'
import type { Database } from '@parley/server/db/db'
import { inspectConnection } from '@parley/server/domain/connections/configure/inspect'
import { toReport } from '@parley/server/domain/why/console'
import { type AppliedFix, applyFix, fixesOf } from '@parley/server/domain/why/fix'
import { explain, explainUnknown, locate, type Report, type Subject } from '@parley/server/domain/why/why'
import { listWorkspaces } from '@parley/server/domain/workspaces/workspaces'
import { change } from '../audit.ts'
import type { Call, Command } from '../command.ts'
import { formatTime } from '../format.ts'
import { styled } from '../style.ts'
import { visible } from '../visible.ts'
import { withNetwork } from '../with-network.ts'
import { readWorkspaceFilter, workspaceFilter } from '../workspace-option.ts'

export const commands: readonly Command[] = [
  {
    name: 'why',
    details:
      'ABOUT is a message ID, WhatsApp’s ID of a message (wamid.…), a phone number of yours or of a contact, an event ID, a sender ID or an account ID (WABA ID). The command checks each step between WhatsApp and your system, and says what is wrong.',
    args: ['ABOUT'],
    options: {
      fix: { help: 'Also do what is safe: subscribe the app and its webhook fields, sync the account' },
      offline: { help: 'Do not ask Meta' },
      workspace: workspaceFilter,
    },
    examples: ['why msg_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d', 'why 15550780001', 'why 15550780001 --fix'],
    run: (call) =>
      withNetwork(call, async (network) => {
        const db = await call.db()
        const about = call.args[0] ?? ''
        const found = await findSubject(call, db, about)
        const parts = { clock: call.clock, role: 'admin', network, publicUrl: call.config.publicUrl } as const
        const report = (): Promise<Report> => {
          if (!found) return explainUnknown(db, call.clock, about)
          const inspect = call.flag('offline') ? null : inspectConnection
          const deps = { ...parts, db: db.within(found.workspaceId), inspect }
          return explain(deps, found.workspaceId, found.subject)
        }
        let current = await report()
        const fixed: AppliedFix[] = []
        if (call.flag('fix')) {
          for (const fix of fixesOf(current.stations)) {
            const applied = await applyFix(network, parts.publicUrl, fix)
            fixed.push(applied)
            const after = { fix: fix.kind, ok: applied.ok }
            const entry = { action: 'connection.fix', target: fix.connectionId, after }
            await change(call, (_tx, audit) => audit({ ...entry, workspaceId: found?.workspaceId ?? null }))
          }
          if (fixed.length > 0) current = await report()
        }
        return resultOf(toReport(current, { isConsole: false, isOperator: true }), call.flag('fix') ? fixed : null)
      }),
  },
]

/** In the workspace that has it. A number of ours comes before a contact with the same number. */
async function findSubject(
  call: Call,
  db: Database,
  about: string,
): Promise<{ workspaceId: string; subject: Subject } | undefined> {
  const only = await readWorkspaceFilter(call)
  let contact: { workspaceId: string; subject: Subject } | undefined
  for (const { id: workspaceId } of only ? [only] : await listWorkspaces(db)) {
    const subject = await locate(db.within(workspaceId), workspaceId, about)
    if (subject && subject.kind !== 'contact') return { workspaceId, subject }
    if (subject) contact ??= { workspaceId, subject }
  }
  return contact
}

function resultOf(report: WhyReport, fixed: readonly AppliedFix[] | null) {
  const { stations, conclusion, remedy, unseen, verdict } = report
  const done = (fixed ?? []).map(
    ({ ok, message }) => `${styled(ok ? 'green' : 'red', ok ? 'fixed' : 'failed')}    ${message}`,
  )
  return {
    lines: [
      ...done,
      ...(done.length > 0 ? [''] : []),
      ...stations.flatMap(linesOf),
      '',
      styled('bold', visible(conclusion)),
      ...(remedy ? [styled('bold', `→ ${visible(remedy)}`)] : []),
      ...(unseen.length > 0 ? ['Parley cannot see:', ...unseen.map((line) => `  ${line}`)] : []),
      ...(fixed?.length === 0 ? ['There was nothing to fix automatically.'] : []),
    ],
    json: {
      ...report,
      ...(fixed && { fixed: fixed.map(({ fix, ok, message }) => ({ kind: fix.kind, ok, message })) }),
    },
    failed: verdict === 'problem',
  }
}

const colors: Readonly<Record<WhyVerdict, 'green' | 'yellow' | 'red'>> = {
  ok: 'green',
  waiting: 'yellow',
  unknown: 'yellow',
  warning: 'yellow',
  problem: 'red',
}
const indent = ' '.repeat(25)

function linesOf({ station, verdict, at, message, details, remedy }: WhyStation): string[] {
  const isFine = verdict === 'ok' || verdict === 'waiting'
  const more = isFine ? [] : [...details.map(visible), ...(remedy ? [`→ ${visible(remedy)}`] : [])]
  const text = at === null ? message : `${message} (${formatTime(at)})`
  return [
    `${styled(colors[verdict], verdict.padEnd(9))}${station.padEnd(16)}${visible(text)}`,
    ...more.map((line) => indent + line),
  ]
}
