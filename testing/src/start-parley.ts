import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Parley } from '@parley/sdk'
import { newControl } from './control.ts'
import { toMs } from './duration.ts'
import { type EndpointHandler, type EndpointOptions, Endpoints, type TestEndpoint } from './endpoint.ts'
import { newPhone } from './phone.ts'
import type { Phone } from './phone-types.ts'
import { spawnService } from './service.ts'

export interface StartOptions {
  /** The `parley` command of a checkout. Default: PARLEY_COMMAND. */
  command?: string
  /** Settings of the service, such as PARLEY_RETENTION_DAYS. */
  env?: Record<string, string>
  /** How long the start may take. Default: 60 seconds; the first one on a machine installs what it needs. */
  withinMs?: number
}

/** A service of your test's own, with a demo workspace and a simulated WhatsApp network. */
export interface TestParley {
  /** The base URL for your bot. */
  readonly url: string
  /** An API key with every scope. */
  readonly key: string
  /** The first sender of the workspace. */
  readonly sender: { id: string; number: string }
  readonly senders: readonly { id: string; number: string }[]
  /** The client of the SDK, with the key. */
  readonly client: Parley
  /** The simulator, with the handset. */
  readonly simulatorUrl: string
  /** A simulated person. Any number works, with or without `+` and spaces. */
  phone(number: string): Phone
  /** A webhook: your handler gets each verified event, or your own server at a URL gets its deliveries. */
  endpoint(handler: EndpointHandler | string, options?: EndpointOptions): Promise<TestEndpoint>
  /** Moves the clock of the service and of the network, and waits until what became due is done: `advance('25h')`. */
  advance(duration: string | number): Promise<void>
  /** The current time of the service, in milliseconds, for `verifyWebhook(…, { nowMs })`. */
  now(): number
  /** All messages fail with this code of WhatsApp, until `reset` or `fail(null)`. */
  fail(code: string | number | null): Promise<void>
  /** Waits until all sends, statuses and deliveries are done. */
  idle(): Promise<void>
  /** Between tests: ends endpoints and failures, and forgets the phones and their conversations. */
  reset(): Promise<void>
  stop(): Promise<void>
}

/** What a phone's chat does by default, but without a wait. */
const quickSwitches = { deliveredAfterMs: 0, readAfterMs: 0 }

/** Starts Parley with a fresh data directory on free ports. It takes a few seconds, so start it once for all tests. */
export async function startParley(options: StartOptions = {}): Promise<TestParley> {
  const { command = process.env.PARLEY_COMMAND, env = {}, withinMs = 60_000 } = options
  // Not `parley` in the PATH: that may be the command line of the SDK's package, which cannot start a service.
  if (!command) throw new Error('Set PARLEY_COMMAND to the parley command of a checkout, such as ../parley/parley.')
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'))
  const removeData = () => rm(dataDir, { recursive: true, force: true })
  const service = await spawnService({ command, dataDir, env, withinMs }).catch(async (error: unknown) => {
    await removeData()
    throw error
  })
  const control = newControl(service.simulator_url)
  const senders = service.senders.map(({ id, phone_number }) => ({ id, number: phone_number.replaceAll(/\D/g, '') }))
  const [sender] = senders
  if (!sender) throw new Error('The demo workspace has no sender.')
  const seen = new Set<string>()
  let movedMs = 0
  await control('PATCH', '/switches', quickSwitches)
  const idle = async () => void (await control('POST', '/settled'))
  const advance = async (ms: number) => {
    // A request in flight would look as if it took all this time.
    await idle()
    await control('POST', '/clock/advance', { ms })
    movedMs += ms
    await idle()
  }

  const endpoints = new Endpoints({
    create: async (url, events) =>
      (await service.command(
        ...['webhook', 'create', '--name', 'Test', '--url', url],
        ...events.flatMap((type) => ['--event', type]),
      )) as { id: string; secret: string },
    remove: (id) => service.command('webhook', 'delete', id),
  })

  return {
    url: service.url,
    key: service.key,
    sender,
    senders,
    client: new Parley({ baseUrl: service.url, key: service.key }),
    simulatorUrl: service.simulator_url,
    phone: (number) => newPhone(number.replaceAll(/[\s()+-]/g, ''), { control, seen, advance, idle }),
    endpoint: (handler, given) => endpoints.open(handler, given),
    advance: async (duration) => advance(toMs(duration)),
    now: () => Date.now() + movedMs,
    fail: async (code) => void (await control('PATCH', '/switches', { failWith: code === null ? null : Number(code) })),
    idle,
    async reset() {
      await idle()
      await endpoints.reset()
      await control('POST', '/reset', {})
      await control('PATCH', '/switches', quickSwitches)
      // The next test has a full rate limit.
      await control('POST', '/clock/advance', { ms: 61_000 })
      movedMs += 61_000
      seen.clear()
    },
    async stop() {
      endpoints.close()
      await service.stop()
      await removeData()
    },
  }
}
