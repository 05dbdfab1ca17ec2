import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { bundleOf } from '../scripts/prepare.mjs'
import { freePort } from '../sdk/testing/free-port.ts'
import { childEnv } from '../server/testing/child-env.ts'
import { newFolder, removeFolder } from '../server/testing/data-dir.ts'
import { until } from '../server/testing/until.ts'

/** Parley as `npm start` runs it, with its own ports and data folder. */
export interface Installation {
  url: string
  simulatorUrl: string
  /** The key and ID of the demo workspace and the link that creates the first account, as printed by the first start. */
  key: string
  workspaceId: string
  setupUrl: string
  env: Record<string, string>
  /** Calls the API with the demo workspace's key. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the shape.
  api(path: string, body?: object): Promise<any>
  /** Calls the control API of the simulator. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the shape.
  control(method: string, path: string, body?: object): Promise<any>
  stop(): Promise<void>
}

const entry = bundleOf(join(import.meta.dirname, '..'))

export interface InstallationOptions {
  /** The host in the printed URLs. Passkeys do not work with an IP address. */
  host?: string | undefined
  /** More variables. */
  settings?: Readonly<Record<string, string>>
  /** An empty folder unless given. `stop` removes it. */
  dataDir?: string
}

export async function startInstallation({
  host = '127.0.0.1',
  settings = {},
  dataDir = newFolder(),
}: InstallationOptions = {}): Promise<Installation> {
  const simulatorPort = String(await freePort())
  const port = String(await freePort())
  const env = {
    ...childEnv,
    PARLEY_DATA_DIR: dataDir,
    PORT: port,
    PUBLIC_URL: `http://${host}:${port}`,
    PARLEY_SIMULATOR_PORT: simulatorPort,
    ...settings,
  }
  const child = spawn(process.execPath, [entry, 'start'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const printed = (pattern: RegExp): Promise<string> =>
    until(
      `the service prints ${pattern}`,
      () => {
        if (child.exitCode !== null) throw new Error(`the service ended before it printed ${pattern}:\n${output}`)
        return pattern.exec(output)?.[1]
      },
      120_000,
    )
  const url = await printed(/Ready at (http:\S+)/)
  const setupUrl = await printed(/(http:\S+\/link#\S+)\n/)
  const key = await printed(/(prl_live_\w+)\n/)
  const simulatorUrl = `http://127.0.0.1:${simulatorPort}`
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
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return request(url + path, body ? 'POST' : 'GET', headers, body)
  }
  const { account_id: workspaceId } = await api('/v1/me')
  return {
    url,
    simulatorUrl,
    key,
    workspaceId,
    setupUrl,
    env,
    api,
    control: (method, path, body) => request(`${simulatorUrl}/control${path}`, method, {}, body),
    async stop() {
      child.kill('SIGTERM')
      await exited
      removeFolder(dataDir)
    },
  }
}
