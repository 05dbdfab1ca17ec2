import type { Db } from '../../db/db.ts'
import { readVersion } from '../../db/migrate.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import type { GraphClient } from '../../whatsapp/client.ts'
import { newNetwork } from '../connections/network.ts'
import { checkBalances, checkKeys, checkParked, checkSecrets, checkSenders, checkSync } from './accounts.ts'
import { checkClock, checkDatabase, checkMigrations, checkPartitions, checkRole } from './database.ts'
import { type CheckResult, type Finding, problem, worstOf } from './finding.ts'
import { checkCredentials, checkIngress, checkProxies, type Get, type Site } from './network.ts'
import { checkDeliveries, checkEndpoints, checkOutbox } from './traffic.ts'

export type { CheckResult, Finding, Get, Site }

export interface HealthDeps {
  secretKeys: SecretKeys
  site: Site
  /** For what has to be asked of others, and takes its time: the network, and ourselves from outside. Left out: not asked. */
  outside?: { client: GraphClient; get: Get }
  /** Told before each check what is looked at, and how far it is with it. */
  onProgress?: (check: string, done?: number, all?: number) => void
}

export interface Health {
  at: Date
  verdict: CheckResult
  findings: Finding[]
}

/**
 * How an installation is: every check, in order. `db` has to see every workspace. A check that breaks is itself a finding
 * and costs no other.
 */
export async function instanceHealth(db: Db, clock: Clock, deps: HealthDeps): Promise<Health> {
  const { onProgress = () => {} } = deps
  const checks: Check[] = [
    ['database', () => checkDatabase(db)],
    ['database role', () => checkRole(db)],
    ['migrations', () => checkMigrations(db)],
    ['clock', () => checkClock(db, clock)],
    ['proxies', () => checkProxies(deps.site)],
  ]
  // Every other check reads tables.
  if (!(await isEmpty(db))) checks.push(...tableChecks(db, clock, deps))
  const findings: Finding[] = []
  for (const [check, look] of checks) {
    onProgress(check)
    findings.push(await guarded(check, look))
  }
  return { at: clock.now(), verdict: worstOf(findings), findings }
}

type Check = [string, () => Promise<Finding> | Finding]

// A version that cannot be read is reported by the check of the migrations.
const isEmpty = (db: Db): Promise<boolean> =>
  readVersion(db).then(
    (version) => version === 0,
    () => false,
  )

function tableChecks(db: Db, clock: Clock, { secretKeys, site, outside, onProgress = () => {} }: HealthDeps): Check[] {
  const checks: Check[] = [
    ['partitions', () => checkPartitions(db, clock)],
    ['secrets', () => checkSecrets(db, secretKeys)],
    ['keys', () => checkKeys(db, clock)],
    ['credits', () => checkBalances(db, clock)],
    ['senders', () => checkSenders(db)],
    ['synchronising', () => checkSync(db)],
    ['parked updates', () => checkParked(db, clock)],
    ['endpoints', () => checkEndpoints(db)],
    ['deliveries', () => checkDeliveries(db, clock)],
    ['sending', () => checkOutbox(db, clock)],
  ]
  if (outside) {
    const network = newNetwork({ db, clock, secretKeys, client: outside.client })
    const steps = (done: number, all: number) => onProgress('access tokens', done, all)
    checks.push(
      ['access tokens', () => checkCredentials(network, steps)],
      ['ingress', () => checkIngress(network, site, outside.get)],
    )
  }
  return checks
}

async function guarded(check: string, look: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await look()
  } catch (error) {
    return problem(check, `This could not be looked at: ${(error as Error).message}.`)
  }
}
