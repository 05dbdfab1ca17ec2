import { readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newDataDir } from '../../server/testing/prepared-data-dir.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { until } from '../../server/testing/until.ts'
import { freePort } from '../../testing/src/free-port.ts'
import { type RunningCommand, runParley, serveParley } from '../testing/run-parley.ts'

/** Listens on a free port. */
async function takePort(): Promise<{ port: string; server: Server }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { port: String((server.address() as { port: number }).port), server }
}

async function stop(service: RunningCommand): Promise<string> {
  service.kill('SIGTERM')
  const { code, out, err } = await service.ended
  expect({ code, err, signals: service.signals() }).toEqual({ code: 0, err: '', signals: [] })
  return out
}

/** Sends a message and waits until the simulated phone has it, which takes requests in both directions. */
async function sendHello(url: string, authorization: string): Promise<void> {
  const call = async (path: string, body?: unknown) => {
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await (await fetch(url + path, { headers, ...init })).json()) as Record<string, unknown>
  }
  const [sender] = (await call('/v1/senders')).data as { id: string }[]
  const template = { name: 'hello_world', language: 'en_US' }
  const message = { sender_id: sender?.id, to: '16505550123', type: 'template', template }
  const { id } = await call('/v1/messages', message)
  expect(id).toMatch(/^msg_/)
  await until('the message was delivered', async () =>
    ['delivered', 'read'].includes(String((await call(`/v1/messages/${id}`)).status)),
  )
}

test('the first start creates a demo workspace connected to the simulator, and later starts keep it connected', async () => {
  const first = { PARLEY_DATA_DIR: newDataDir(tempFolder()), PARLEY_SIMULATOR_PORT: String(await freePort()) }
  const service = await serveParley(first)
  const out = service.out()
  expect(out).toContain(`Handset        http://127.0.0.1:${first.PARLEY_SIMULATOR_PORT}\n`)
  expect(out).not.toContain('cannot send')
  const authorization = `Bearer ${/prl_live_\w+/.exec(out)?.[0]}`
  const list = async (url: string, path: string) =>
    (await (await fetch(url + path, { headers: { authorization } })).json()) as { data: { flow?: unknown }[] }
  const { data: senders } = await list(service.url, '/v1/senders')
  expect(senders).toMatchObject([{ status: 'CONNECTED' }, { status: 'CONNECTED' }])
  const { data: templates } = await list(service.url, '/v1/templates?limit=100')
  expect(templates.length).toBeGreaterThan(10)
  expect(templates.filter(({ flow }) => flow !== null)).toHaveLength(1)
  await sendHello(service.url, authorization)
  await stop(service)

  const second = { ...first, PARLEY_SIMULATOR_PORT: String(await freePort()) }
  const again = await serveParley(second)
  const simulator = `http://127.0.0.1:${second.PARLEY_SIMULATOR_PORT}`
  const apps = (await (await fetch(`${simulator}/control/apps`)).json()) as { callbackUrl: string }[]
  expect(apps[0]?.callbackUrl).toMatch(new RegExp(`^${again.url}/network/whatsapp/[0-9a-f-]{36}$`))
  const connections = await runParley(['connection', 'list', '--json'], second)
  const [connection] = (JSON.parse(connections.out) as { data: { id: string }[] }).data
  expect(await runParley(['connection', 'sync', connection?.id ?? ''], second)).toMatchObject({ code: 0 })
  expect(await stop(again)).not.toContain('prl_')

  const { port } = await takePort()
  const { code, err } = await runParley(['start'], { ...second, PORT: '0', PARLEY_SIMULATOR_PORT: port })
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/^The simulator cannot start: port \d+ is in use\. .*\n$/),
  })
})

test('the secrets of the simulator are random, are printed nowhere, and stay when its folder is deleted', async () => {
  const env = {
    PARLEY_DATA_DIR: newDataDir(tempFolder()),
    PARLEY_SIMULATOR_PORT: String(await freePort()),
  }
  const folder = join(env.PARLEY_DATA_DIR, 'simulator')
  const first = await serveParley(env)
  const authorization = `Bearer ${/prl_live_\w+/.exec(first.out())?.[0]}`
  await sendHello(first.url, authorization)
  const out = await stop(first)
  const state = readFileSync(join(folder, 'state.json'), 'utf8')
  const file = join(env.PARLEY_DATA_DIR, 'simulator-secrets')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  for (const secret of Object.values(JSON.parse(readFileSync(file, 'utf8')))) {
    expect(state).toContain(`"${secret}"`)
    expect(out + first.err()).not.toContain(secret)
  }

  // Deleting the folder of the simulator resets it. It has the same secrets afterwards.
  rmSync(folder, { recursive: true })
  const reset = await serveParley(env)
  await sendHello(reset.url, authorization)
  await stop(reset)
})
