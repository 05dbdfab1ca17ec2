import { createDemo, linkSimulator } from '../cli/src/demo.ts'
import { readConfig } from '../server/src/config.ts'
import type { Db } from '../server/src/db/db.ts'
import { startService } from '../server/src/start.ts'
import { newLogger } from '../server/src/telemetry/logger.ts'
import { childEnv } from '../server/testing/child-env.ts'
import { newFolder, removeFolder } from '../server/testing/data-dir.ts'
import { startSimulator } from '../simulator/src/start.ts'
import { freePort } from '../testing/src/free-port.ts'

/** Parley as `npm start` runs it, in this process, with its own ports and data. */
export interface Installation {
  url: string
  simulatorUrl: string
  /** The key and ID of the demo workspace and the link that creates the first account, as printed by the first start. */
  key: string
  workspaceId: string
  setupUrl: string
  /** The settings of commands that use this installation. */
  env: Record<string, string>
  db: Db
  /** Calls the API with the demo workspace's key. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the shape.
  api(path: string, body?: object): Promise<any>
  /** Calls the control API of the simulator. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the shape.
  control(method: string, path: string, body?: object): Promise<any>
  stop(): Promise<void>
}

export interface InstallationOptions {
  /** The host in the URLs. Passkeys do not work with an IP address. */
  host?: string | undefined
  /** More variables. */
  settings?: Readonly<Record<string, string>>
  /** An empty folder unless given. `stop` removes it. */
  dataDir?: string
  /** A migrated database; unless given, the installation runs PostgreSQL in its data folder. */
  databaseUrl?: string
}

/** Ports of stopped installations. The browser still has the console and the handset of these addresses in its cache. */
const usedPorts: [number, number][] = []

export async function startInstallation({
  host = '127.0.0.1',
  settings = {},
  dataDir = newFolder(),
  databaseUrl,
}: InstallationOptions = {}): Promise<Installation> {
  const ports = usedPorts.pop() ?? [await freePort(), await freePort()]
  const [port, simulatorPort] = ports
  const url = `http://${host}:${port}`
  const env = { ...childEnv, PARLEY_DATA_DIR: dataDir, PORT: String(port), PUBLIC_URL: url, ...settings }
  // With the defaults of the embedded database in either case.
  const config = readConfig(env)
  const simulator = await startSimulator({ consoleUrl: url, port: simulatorPort })
  const service = await startService({
    config: { ...config, databaseUrl: databaseUrl ?? null },
    log: newLogger('silent'),
    startCompanion: async () => ({ ...simulator, phone: simulator.control.phones.list()[0]?.waId ?? null }),
  })
  const demo = await createDemo(service, simulator, config, url)
  const problems = [demo?.problem ?? [], await linkSimulator(service, simulator)].flat()
  if (!demo || problems.length > 0) throw new Error(`the demo workspace was not created: ${problems.join()}`)
  const request = async (address: string, method: string, headers: Record<string, string>, body?: object) => {
    const response = await fetch(address, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${address} returned ${response.status}: ${text}`)
    return JSON.parse(text)
  }
  const api: Installation['api'] = (path, body) => {
    const headers = { authorization: `Bearer ${demo.secret}`, 'content-type': 'application/json' }
    return request(url + path, body ? 'POST' : 'GET', headers, body)
  }
  const { account_id: workspaceId } = await api('/v1/me')
  return {
    url,
    simulatorUrl: simulator.url,
    key: demo.secret,
    workspaceId,
    setupUrl: demo.setupUrl,
    env,
    db: service.runtime.db,
    api,
    control: (method, path, body) => request(`${simulator.url}/control${path}`, method, {}, body),
    async stop() {
      await service.stop()
      usedPorts.push(ports)
      removeFolder(dataDir)
    },
  }
}
