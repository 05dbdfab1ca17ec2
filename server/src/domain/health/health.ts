import type { Db } from '../../db/db.ts'
import type { ReplicaState } from '../../db/replica/replica-watch.ts'
import { readSchema } from '../../db/schema-version.ts'
import type { Clock } from '../../lib/clock.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import type { MailSettings } from '../../net/mail-settings.ts'
import type { GraphClient } from '../../whatsapp/graph/client.ts'
import { newNetwork } from '../connections/network.ts'
import {
  checkBalances,
  checkKeys,
  checkLedger,
  checkParked,
  checkSecrets,
  checkSenders,
  checkSignatures,
  checkSync,
  checkTemplates,
  checkUnknownNumbers,
  checkUpdates,
} from './accounts.ts'
import { checkAccounts } from './check-accounts.ts'
import {
  checkClock,
  checkDatabase,
  checkMigrations,
  checkPartitions,
  checkReplica,
  checkRole,
  checkTransactions,
} from './database.ts'
import { checkDeprecations, checkGraphVersion } from './deprecations.ts'
import { checkEmail } from './email.ts'
import { checkFiles, checkStorage } from './files.ts'
import { type CheckResult, type Finding, problem, worstOf } from './finding.ts'
import { checkMaintenance } from './maintenance.ts'
import { checkIngress, checkProxies, type Get, type Site } from './network.ts'
import { checkDeliveries, checkEndpoints, checkOutbox } from './traffic.ts'

export type { Finding, Get }

export interface HealthDeps {
  secretKeys: SecretKeys
  site: Site
  /** The version of the Graph API that requests use, if it is set. */
  graphVersion?: string | null
  mediaBytesPerWorkspace: number
  /** Null without PARLEY_DATABASE_READ_URL. */
  replica?: ReplicaState | null
  /** Null: no emails are sent. */
  mail?: MailSettings | null
  /** Also checks every balance against the whole ledger. */
  ledger?: boolean
  /** For the slow checks, which call the network, our own public URL and the file store. Skipped if left out. */
  outside?: { client: GraphClient; get: Get }
  /** Called before each check with its name, and with its progress if it has several steps. */
  onProgress?: (check: string, done?: number, all?: number) => void
}

export interface Health {
  at: Date
  verdict: CheckResult
  findings: Finding[]
}

/**
 * Runs every check in order. `db` must see all workspaces. A check that throws becomes a finding; the others still run.
 */
export async function instanceHealth(db: Db, clock: Clock, deps: HealthDeps): Promise<Health> {
  const { replica = null, onProgress = () => {} } = deps
  const checks: Check[] = [
    ['database', () => checkDatabase(db)],
    ['database role', () => checkRole(db)],
    ['long transactions', () => checkTransactions(db)],
    ['migrations', () => checkMigrations(db)],
    ['clock', () => checkClock(db, clock)],
    ['proxies', () => checkProxies(deps.site)],
  ]
  if (replica) checks.push(['replica', () => checkReplica(replica)])
  // The other checks read tables, which an empty database does not have.
  if (!(await isEmpty(db))) checks.push(...tableChecks(db, clock, deps))
  const findings: Finding[] = []
  for (const [check, run] of checks) {
    onProgress(check)
    findings.push(...[await runCheck(check, run)].flat())
  }
  return { at: clock.now(), verdict: worstOf(findings), findings }
}

type Check = [string, () => Promise<Finding | Finding[]> | Finding]

// If the version cannot be read, the migrations check reports it.
const isEmpty = (db: Db): Promise<boolean> =>
  readSchema(db).then(
    ({ version }) => version === 0,
    () => false,
  )

function tableChecks(db: Db, clock: Clock, deps: HealthDeps): Check[] {
  const { secretKeys, site, graphVersion = null, mediaBytesPerWorkspace, mail = null, ledger, outside } = deps
  const { onProgress = () => {} } = deps
  const checks: Check[] = [
    ['partitions', () => checkPartitions(db, clock)],
    ['maintenance', () => checkMaintenance(db)],
    ['secrets', () => checkSecrets(db, secretKeys)],
    ['keys', () => checkKeys(db, clock)],
    ['credits', () => checkBalances(db, clock)],
    ['senders', () => checkSenders(db)],
    ['account sync', () => checkSync(db)],
    ['parked updates', () => checkParked(db, clock)],
    ['unknown numbers', () => checkUnknownNumbers(db, clock)],
    ['network updates', () => checkUpdates(db, clock)],
    ['signatures', () => checkSignatures(db, clock)],
    ['Graph version', () => checkGraphVersion(clock, graphVersion)],
    ['deprecations', () => checkDeprecations(clock)],
    ['templates', () => checkTemplates(db)],
    ['endpoints', () => checkEndpoints(db)],
    ['deliveries', () => checkDeliveries(db, clock)],
    ['sending', () => checkOutbox(db, clock)],
    ['files', () => checkFiles(db, outside !== undefined)],
    ['file storage', () => checkStorage(db, mediaBytesPerWorkspace)],
    ['email', () => checkEmail(db, clock, mail, outside !== undefined)],
  ]
  if (ledger) checks.push(['ledger', () => checkLedger(db)])
  if (outside) {
    const network = newNetwork({ db, clock, secretKeys, client: outside.client })
    const steps = (done: number, all: number) => onProgress('accounts at Meta', done, all)
    checks.push(
      ['accounts at Meta', () => checkAccounts(network, site.publicUrl, steps)],
      ['ingress', () => checkIngress(network, site, outside.get)],
    )
  }
  return checks
}

async function runCheck(...[check, run]: Check): Promise<Finding | Finding[]> {
  try {
    return await run()
  } catch (error) {
    return problem(check, `The check failed: ${(error as Error).message}.`)
  }
}
