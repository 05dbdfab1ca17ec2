import { hasEmbedded } from '@parley/server/db/store'
import { openObjects } from '@parley/server/domain/files/store'
import { type Finding, problem, warning, worstOf } from '@parley/server/domain/health/finding'
import { type Get, instanceHealth } from '@parley/server/domain/health/health'
import { StartupError } from '@parley/server/lib/refuse'
import { version } from '@parley/server/lib/version'
import { silentLogger } from '@parley/server/telemetry/silent-logger'
import type { Call, Command } from '../command.ts'
import { checkDisk, checkService } from '../machine.ts'
import { newProgress, type Progress } from '../progress.ts'
import { styled } from '../style.ts'
import { visible } from '../visible.ts'

export const commands: readonly Command[] = [
  {
    name: 'doctor',
    options: {
      offline: { help: 'Skip the checks that call WhatsApp, your PUBLIC_URL and the file store' },
      ledger: { help: 'Also check every credit balance against all of its entries' },
    },
    examples: ['doctor', 'doctor --offline --json'],
    async run(call) {
      const progress = newProgress()
      const findings: Finding[] = []
      try {
        progress.say('Checking this machine')
        findings.push(await checkService(call.config, get))
        if (call.config.databaseUrl === null) findings.push(...(await checkDisk(call.config.dataDir)))
        findings.push(...(await databaseFindings(call, progress)))
      } finally {
        progress.end()
      }
      const verdict = worstOf(findings)
      return {
        lines: [...findings.flatMap(linesOf), '', closing(findings)],
        json: {
          object: 'doctor',
          version,
          verdict,
          checked_at: call.clock.now().toISOString(),
          checks: findings.map(toCheck),
        },
        failed: verdict === 'problem',
      }
    },
  },
]

/** Without what only the console shows. */
const toCheck = ({ consoleRemedy: _, actions: _actions, ...check }: Finding) => check

async function databaseFindings({ config, clock, flag, store }: Call, progress: Progress): Promise<Finding[]> {
  if (config.databaseUrl === null && !hasEmbedded(config.dataDir)) {
    const remedy = 'Create one with "./parley start", or set DATABASE_URL or PARLEY_DATA_DIR to your existing database.'
    return [warning('database', `No database in ${config.dataDir} yet.`, { remedy })]
  }
  progress.say('Opening the database')
  const opened = await store('ignore').catch((error: unknown) => openingFailed(error))
  if (!('db' in opened)) return [opened]
  // Loaded on demand: most commands do not call the Graph API.
  const { GraphClient } = await import('@parley/server/whatsapp/graph/client')
  const times = { connectTimeoutMs: 3_000, responseTimeoutMs: 5_000, deadlineMs: 6_000 }
  const client = new GraphClient({ productVersion: version, graphVersion: config.graphVersion, ...times })
  const objects = await openObjects(opened.db, config.objectStore, silentLogger)
  try {
    const { findings } = await instanceHealth(opened.db, clock, {
      secretKeys: config.secretKeys(),
      site: config,
      mail: config.mail,
      graphVersion: config.graphVersion,
      mediaBytesPerWorkspace: config.mediaBytesPerWorkspace,
      ledger: flag('ledger'),
      ...(!flag('offline') && { outside: { client, get } }),
      onProgress: (check, done, all) =>
        progress.say(all === undefined ? `Checking ${check}` : `Checking ${check} (${done} of ${all})`),
    })
    return findings
  } finally {
    objects?.close()
    await client.close()
  }
}

function openingFailed(error: unknown): Finding {
  if (error instanceof Error && error.name === 'AbortError') throw error
  const reason = error instanceof Error ? error.message : String(error)
  const message = error instanceof StartupError ? reason : `The database cannot be opened: ${reason.split('\n')[0]}`
  return problem('database', message, {
    effect: 'Parley cannot start, and the other checks were skipped.',
    remedy: 'Check that PostgreSQL is running and that DATABASE_URL or PARLEY_DATA_DIR is correct.',
  })
}

const get: Get = async (url) => {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000), redirect: 'manual' })
  return { status: response.status, text: await response.text() }
}

const colors = { ok: 'green', warning: 'yellow', problem: 'red' } as const
const indent = ' '.repeat(27)

function linesOf({ check, verdict, message, effect, remedy, details }: Finding): string[] {
  const more = [
    ...details.map(visible),
    ...(effect ? [effect] : []),
    ...(remedy ? [styled('bold', `→ ${visible(remedy)}`)] : []),
  ]
  return [
    `${styled(colors[verdict], verdict.padEnd(9))}${check.padEnd(18)}${visible(message)}`,
    ...more.map((line) => indent + line),
  ]
}

function closing(findings: readonly Finding[]): string {
  const count = (verdict: Finding['verdict']) => findings.filter((each) => each.verdict === verdict).length
  const [problems, warnings] = [count('problem'), count('warning')]
  if (problems + warnings === 0) return 'All checks passed.'
  return `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`
}
