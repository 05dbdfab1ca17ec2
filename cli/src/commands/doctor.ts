import { version } from '@parley/server/config'
import { hasEmbedded } from '@parley/server/db/store'
import { type Finding, problem, warning, worstOf } from '@parley/server/domain/health/finding'
import { type Get, instanceHealth } from '@parley/server/domain/health/health'
import { StartupError } from '@parley/server/lib/refuse'
import type { Call, Command } from '../command.ts'
import { checkDisk, checkService } from '../machine.ts'
import { newProgress, type Progress } from '../progress.ts'
import { styled } from '../style.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Look the installation over: what is wrong, what it means, what to do',
  options: { offline: { help: 'without asking the network, and ourselves from outside' } },
  async run(call) {
    const progress = newProgress()
    const findings: Finding[] = []
    try {
      progress.say('Looking at this machine')
      findings.push(await checkService(call.config, get))
      if (call.config.databaseUrl === null) findings.push(...(await checkDisk(call.config.dataDir)))
      findings.push(...(await lookAtDatabase(call, progress)))
    } finally {
      progress.end()
    }
    const verdict = worstOf(findings)
    return {
      lines: [...findings.flatMap(linesOf), '', closing(findings)],
      json: { object: 'doctor', version, verdict, checked_at: call.clock.now().toISOString(), checks: findings },
      failed: verdict === 'problem',
    }
  },
}

async function lookAtDatabase({ config, clock, flag, store }: Call, progress: Progress): Promise<Finding[]> {
  if (config.databaseUrl === null && !hasEmbedded(config.dataDir)) {
    const advice = 'npm start makes one; or set DATABASE_URL or PARLEY_DATA_DIR to where yours is.'
    return [warning('database', `There is none in ${config.dataDir} yet.`, { advice })]
  }
  progress.say('Opening the database')
  const opened = await store('ignore').catch((error: unknown) => faultOf(error))
  if (!('db' in opened)) return [opened]
  // Loaded here, for no other command without the network needs it.
  const { GraphClient } = await import('@parley/server/whatsapp/client')
  const times = { connectTimeoutMs: 3_000, responseTimeoutMs: 5_000, deadlineMs: 6_000 }
  const client = new GraphClient({ productVersion: version, ...times })
  try {
    const { findings } = await instanceHealth(opened.db, clock, {
      secretKeys: config.secretKeys(),
      site: config,
      ...(!flag('offline') && { outside: { client, get } }),
      onProgress: (check, done, all) =>
        progress.say(all === undefined ? `Looking at ${check}` : `Looking at ${check} (${done} of ${all})`),
    })
    return findings
  } finally {
    await client.close()
  }
}

function faultOf(error: unknown): Finding {
  if (error instanceof Error && error.name === 'AbortError') throw error
  const says = error instanceof Error ? error.message : String(error)
  return problem('database', error instanceof StartupError ? says : `It cannot be opened: ${says.split('\n')[0]}`, {
    means: 'Nothing else could be looked at, and the service cannot start.',
    advice: 'See that PostgreSQL runs and that the settings lead to it: DATABASE_URL, or PARLEY_DATA_DIR.',
  })
}

const get: Get = async (url) => {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000), redirect: 'manual' })
  return { status: response.status, text: await response.text() }
}

const colours = { ok: 'green', warning: 'yellow', problem: 'red' } as const
const indent = ' '.repeat(24)

function linesOf({ check, verdict, says, means, advice, details }: Finding): string[] {
  const more = [...details, ...(means ? [means] : []), ...(advice ? [styled('bold', `→ ${advice}`)] : [])]
  return [
    `${styled(colours[verdict], verdict.padEnd(9))}${check.padEnd(15)}${says}`,
    ...more.map((line) => indent + line),
  ]
}

function closing(findings: readonly Finding[]): string {
  const count = (verdict: Finding['verdict']) => findings.filter((each) => each.verdict === verdict).length
  const [problems, warnings] = [count('problem'), count('warning')]
  if (problems + warnings === 0) return 'All is well.'
  return `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`
}
