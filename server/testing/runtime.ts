import { type Environment, readConfig } from '../src/config.ts'
import { newNetwork } from '../src/domain/connections/network.ts'
import { newOtherWorkers } from '../src/domain/deliveries/engine/publish/other-workers.ts'
import type { SecretKeys } from '../src/lib/seal.ts'
import type { Runtime } from '../src/runtime.ts'
import { newLogger } from '../src/telemetry/logger.ts'
import { GraphClient } from '../src/whatsapp/graph/client.ts'

export interface TestRuntimeOptions extends Pick<Runtime, 'db' | 'clock'>, Partial<Pick<Runtime, 'log' | 'replica'>> {
  secretKeys: SecretKeys
  trustProxy?: readonly string[]
  /** More settings. */
  env?: Environment
}

/** The runtime of a process in a test. It opens no network connection until one is needed. */
export function newRuntime(options: TestRuntimeOptions): Runtime {
  const { db, clock, log = newLogger('silent'), secretKeys, replica = null, trustProxy = [], env = {} } = options
  const config = readConfig({ PUBLIC_URL: 'http://parley.test', PARLEY_TRUST_PROXY: trustProxy.join(), ...env })
  // The receivers of tests are on this machine, which webhooks may not reach with a public URL or a proxy.
  const { targetRules } = readConfig(env)
  const network = newNetwork({ db, clock, secretKeys, client: new GraphClient({ productVersion: 'test' }) })
  return {
    config: { ...config, targetRules, secretKeys: () => secretKeys },
    log,
    db,
    replica,
    clock,
    network,
    otherWorkers: newOtherWorkers(db),
    simulatorUrl: null,
    simulatorPhone: null,
  }
}
