import { randomBytes } from 'node:crypto'
import { type Simulator, startSimulator } from '@parley/simulator/start'
import { afterAll, beforeAll } from 'vitest'
import { newDatabase } from '../../server/testing/database.ts'
import { urlOf } from '../../server/testing/service.ts'
import { runParley } from './run-parley.ts'

export interface ConnectedAccount {
  simulator: Simulator
  /** The settings with which commands run. */
  env: Record<string, string>
}

/** Sets up a workspace with the demo account of a simulator, by commands. Returns it once the tests run. */
export function useConnectedAccount(): () => ConnectedAccount {
  let account: ConnectedAccount
  let drop: () => Promise<void>
  beforeAll(async () => {
    const simulator = await startSimulator({ port: 0, dataset: 'demo' })
    const database = await newDatabase()
    drop = database.drop
    const env = {
      DATABASE_URL: urlOf(database.connection),
      PARLEY_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      PARLEY_APP_SECRET: simulator.control.apps.list()[0]?.secret ?? '',
      PARLEY_VERIFY_TOKEN: 'v-1',
      PARLEY_ACCESS_TOKEN: simulator.control.tokens.list()[0]?.token ?? '',
    }
    account = { simulator, env }
    await runParley(['workspace', 'create', '--name', 'Clinic'], env)
    const app = await runParley(['app', 'create', '--name', 'Demo', '--graph-url', simulator.url, '--json'], env)
    const { id } = JSON.parse(app.out) as { id: string }
    await runParley(['connection', 'create', '--app', id, '--waba-id', '102290000000001'], env)
  })
  afterAll(async () => {
    await account.simulator.stop()
    await drop()
  })
  return () => account
}
