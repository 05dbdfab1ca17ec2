import { createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { parley, type Running, startParley } from '../../server/testing/parley.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { until } from '../../server/testing/until.ts'

/** Listens on a free port. */
async function takePort(): Promise<{ port: string; server: Server }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { port: String((server.address() as { port: number }).port), server }
}

async function freePort(): Promise<string> {
  const { port, server } = await takePort()
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function stop(service: Running): Promise<string> {
  service.child.kill('SIGTERM')
  const { code, out, err } = await service.ended
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

test('the first start creates a demo workspace connected to the simulator, and later starts keep it connected', async () => {
  const first = { PARLEY_DATA_DIR: tempFolder(), PARLEY_SIMULATOR_PORT: await freePort() }
  const service = await startParley(first)
  const out = await until('the key is printed', () => /prl_live_\w+/.test(service.out()) && service.out())
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
  const sent = await fetch(`${service.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      sender_id: (senders[0] as { id?: string }).id,
      to: '16505550123',
      type: 'template',
      template: { name: 'hello_world', language: 'en_US' },
    }),
  })
  expect(sent.status).toBe(202)
  const { id } = (await sent.json()) as { id: string }
  await until('the message was delivered', async () => {
    const message = await list(service.url, `/v1/messages/${id}`)
    return ['delivered', 'read'].includes((message as unknown as { status: string }).status)
  })
  await stop(service)

  const second = { ...first, PARLEY_SIMULATOR_PORT: await freePort() }
  const again = await startParley(second)
  const simulator = `http://127.0.0.1:${second.PARLEY_SIMULATOR_PORT}`
  const apps = (await (await fetch(`${simulator}/control/apps`)).json()) as { callbackUrl: string }[]
  expect(apps[0]?.callbackUrl).toMatch(new RegExp(`^${again.url}/network/whatsapp/[0-9a-f-]{36}$`))
  const connections = await parley(['connection', 'list', '--json'], second)
  const [connection] = (JSON.parse(connections.out) as { data: { id: string }[] }).data
  expect(await parley(['connection', 'sync', connection?.id ?? ''], second)).toMatchObject({ code: 0 })
  expect(await stop(again)).not.toContain('prl_')

  const { port } = await takePort()
  const { code, err } = await parley(['start'], { ...second, PORT: '0', PARLEY_SIMULATOR_PORT: port })
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/^The simulator cannot start: port \d+ is in use\. .*\n$/),
  })
}, 60_000)
