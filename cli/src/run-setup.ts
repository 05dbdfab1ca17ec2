import { createInterface } from 'node:readline/promises'
import type { Db } from '@parley/server/db/db'
import { recordAuditEntry } from '@parley/server/domain/audit/audit'
import type { App } from '@parley/server/domain/connections/apps'
import { configure, type SetupResult, type StepOutcome } from '@parley/server/domain/connections/configure/configure'
import type { SetupInput } from '@parley/server/domain/connections/configure/prepare'
import { commandLine } from './audit.ts'
import type { Call, CommandResult } from './command.ts'
import { sayAside } from './print.ts'
import { styled } from './style.ts'
import { withNetwork } from './with-network.ts'

export const setupOptions = {
  check: { help: 'Only report what is there and what would be changed; exit with status 1 if something would' },
  'replace-callback': { help: 'Replace callbacks of other services at Meta, without asking' },
}

/** Sets up an app and an account, and prints a line for each step. At a terminal, it asks before it replaces a callback. */
export async function runSetup(call: Call, input: SetupInput): Promise<CommandResult> {
  const { clock, config, flag } = call
  const options = {
    publicUrl: config.publicUrl,
    check: flag('check'),
    replaceCallback: flag('replace-callback'),
    audit: (tx: Db, app: App, after: Record<string, string>) =>
      recordAuditEntry(tx, clock, commandLine, {
        action: 'app.configure',
        workspaceId: input.workspaceId,
        target: app.id,
        targetName: app.name,
        after,
      }),
  }
  const run = (replaceCallback: boolean) =>
    withNetwork(call, (network) => configure(network, input, { ...options, replaceCallback }))
  const first = await run(options.replaceCallback)
  const result = first.state === 'conflict' && !options.check && (await isWanted(first)) ? await run(true) : first
  return {
    lines: [...result.steps.map(lineOf), '', closingOf(result)],
    json: {
      object: 'setup',
      state: result.state,
      steps: result.steps,
      app_id: result.app?.id ?? null,
      connection_id: result.connection?.id ?? null,
    },
    failed: result.steps.some(({ verdict }) => verdict !== 'ok' && verdict !== 'changed'),
  }
}

/** Without a terminal, no one can confirm it: the option has to be given. */
async function isWanted({ steps }: SetupResult): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  for (const step of steps.filter(({ verdict }) => verdict === 'conflict')) sayAside(lineOf(step))
  const input = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await input.question('Replace it? [y/N] ')).trim())
  } finally {
    input.close()
  }
}

const looks = {
  ok: ['green', 'ok'],
  changed: ['green', 'changed'],
  would_change: ['yellow', 'would change'],
  conflict: ['red', 'conflict'],
  failed: ['red', 'failed'],
} as const

function lineOf({ step, found, wanted, verdict, remedy }: StepOutcome): string {
  const [look, word] = looks[verdict]
  const text = verdict === 'ok' ? found : `${found} → ${wanted}`
  return `${styled(look, word.padEnd(12))}  ${step.padEnd(12)}  ${text}${remedy ? `. ${remedy}` : ''}`
}

function closingOf({ state, steps, app, connection }: SetupResult): string {
  if (state === 'done') {
    const isSame = steps.every(({ verdict }) => verdict === 'ok')
    return `${isSame ? 'Everything is set up already' : 'Set up'}: app ${app?.id}, connection ${connection?.id}.`
  }
  if (state === 'checked')
    return steps.every(({ verdict }) => verdict === 'ok') ? 'Everything is set up.' : 'Nothing was changed.'
  if (state === 'conflict') return 'Nothing was changed. To replace the callback, add --replace-callback.'
  return 'Fix this and run the command again. What is right is not changed.'
}
