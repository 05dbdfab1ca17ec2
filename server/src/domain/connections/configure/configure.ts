import type { Db } from '../../../db/db.ts'
import { type App, deleteApp } from '../apps.ts'
import type { Connection } from '../connections.ts'
import type { Network } from '../network.ts'
import { type Prepared, prepare, type SetupInput } from './prepare.ts'
import { type Step, type Stored, stepsOf } from './steps.ts'

/** What was found in one step, and what was done about it. */
export interface StepOutcome extends Omit<Step, 'verdict' | 'apply' | 'always'> {
  verdict: Step['verdict'] | 'changed'
}

export interface SetupResult {
  /**
   * `checked`: nothing was changed, because only a check was asked for. `conflict`: nothing was changed, because something else
   * is set at Meta and may be replaced only if that is wanted.
   */
  state: 'done' | 'checked' | 'conflict' | 'failed'
  steps: StepOutcome[]
  app: App | undefined
  connection: Connection | undefined
}

export interface SetupOptions {
  publicUrl: string
  /** Changes nothing. */
  check?: boolean
  /** Replaces the callbacks of others. */
  replaceCallback?: boolean
  /** Writes the audit entry, in the transaction that stores the app. `after` says what the set-up is about to change. */
  audit?: (tx: Db, app: App, after: Record<string, string>) => Promise<void>
}

/**
 * Sets up everything between a Meta app and a workspace: the app's callback and webhook fields, the account's subscription, its
 * numbers and its templates. It reads the current state first, and rejects the input or stops before it changes anything. It
 * does not touch correct settings, so it can be repeated.
 */
export async function configure(network: Network, input: SetupInput, options: SetupOptions): Promise<SetupResult> {
  const { publicUrl, check = false, replaceCallback = false, audit = async () => {} } = options
  const there = await prepare(network, input, publicUrl)
  const done: Stored = { app: there.stored, isAppUnused: false, connection: there.connection }
  const steps: Step[] = stepsOf({
    network,
    there,
    publicUrl,
    done,
    audit: (tx, app) => audit(tx, app, changesOf(there, steps)),
  })
  const outcomes: StepOutcome[] = []
  const report = ({ apply: _, always: _always, ...step }: Step, change: Partial<StepOutcome> = {}) => {
    outcomes.push({ ...step, ...change })
  }
  const resultOf = (state: SetupResult['state']): SetupResult => ({
    state,
    steps: outcomes,
    app: done.app,
    connection: done.connection,
  })
  const isBlocked = steps.some(({ verdict }) => verdict === 'failed' || (verdict === 'conflict' && !replaceCallback))
  if (check || isBlocked) {
    for (const step of steps) report(step)
    if (steps.some(({ verdict }) => verdict === 'failed')) return resultOf('failed')
    return resultOf(isBlocked ? 'conflict' : 'checked')
  }
  for (const step of steps) {
    const isRight = step.verdict === 'ok'
    if (!step.apply || (isRight && !step.always)) {
      report(step)
      continue
    }
    step.remedy = null
    const error = await step.apply()
    if (error === undefined) {
      report(step, isRight ? {} : { verdict: 'changed' })
      continue
    }
    report(step, { verdict: 'failed', remedy: error })
    if (step.step === 'webhook' && done.isAppUnused && done.app) {
      await deleteApp(network.db, done.app.id)
      done.app = undefined
    }
    return resultOf('failed')
  }
  return resultOf('done')
}

function changesOf(
  { setup, stored, isStoredRight, wabaId, connection, isTokenStored }: Prepared,
  steps: readonly Step[],
) {
  return {
    meta_app_id: setup.metaAppId,
    waba_id: wabaId,
    callbacks: steps.some(({ verdict }) => verdict === 'conflict') ? 'replaced' : 'kept',
    ...(stored?.metaAppId === setup.metaAppId && !isStoredRight && { app_secret: 'replaced' }),
    ...(connection && !isTokenStored && { access_token: 'replaced' }),
  }
}
