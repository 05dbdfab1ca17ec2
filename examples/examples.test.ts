import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { useService } from '../sdk/testing/service.ts'
import { eventBody, sign } from '../sdk/testing/signing.ts'
import { syncConnection } from '../server/src/domain/connections/sync.ts'
import { newLine } from '../server/testing/deliveries.ts'
import { until } from '../server/testing/until.ts'
import { freePort } from '../testing/src/free-port.ts'

const service = useService()

const receivers = [
  { language: 'TypeScript', command: [process.execPath, 'receiver-typescript/receiver.ts'] },
  { language: 'Python', command: ['python3', 'receiver-python/receiver.py'], probe: ['--version'] },
  { language: 'Go', command: ['go', 'run', '.'], folder: 'receiver-go', probe: ['version'] },
]

test.for(receivers)(
  'the receiver in $language prints each valid event once and rejects forged ones',
  async (receiver, { skip }) => {
    const { command, folder, probe } = receiver
    const [program = ''] = command
    skip(probe !== undefined && spawnSync(program, probe).status !== 0, `${program} is not installed`)
    const line = await newLine(service.server)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/`
    const { secret } = await line.listen({ url })
    const running = start(command, { PARLEY_WEBHOOK_SECRET: secret, PORT: String(port) }, folder)
    await until(
      'it accepts connections',
      () =>
        fetch(url, { method: 'POST', body: 'x' }).then(
          () => true,
          () => false,
        ),
      60_000,
    )

    const forged = eventBody({ type: 'message.forged' })
    const post = async (headers: Record<string, string>) =>
      (await fetch(url, { method: 'POST', body: forged, headers })).status
    const old = sign(forged, { key: secret, seconds: Math.floor(Date.now() / 1000) - 400 })
    expect(await post({ 'service-signature': sign(forged) })).toBe(400)
    expect(await post({ 'service-signature': old })).toBe(400)
    expect(await post({})).toBe(400)

    // During a staged rotation, deliveries are signed with two secrets.
    const testEvent = eventBody({ type: 'webhook.test', data: { test: true } })
    const [valid, other] = [sign(testEvent, { key: secret }), sign(testEvent)]
    const v1Of = (header: string) => header.slice(header.indexOf(',v1='))
    for (const signature of [valid + v1Of(other), other + v1Of(valid)]) {
      const headers = { 'service-signature': signature }
      expect((await fetch(url, { method: 'POST', body: testEvent, headers })).ok).toBe(true)
    }
    const twice = { 'service-signature': other + v1Of(other) }
    expect((await fetch(url, { method: 'POST', body: testEvent, headers: twice })).status).toBe(400)
    const large = await fetch(url, { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1) }).catch(() => null)
    expect(large?.status ?? 413).toBe(413)

    await line.write(2)
    await service.processQueues()
    const { body } = await line.workspace.call('/v1/webhook')
    expect(body).toMatchObject({ data: [{ last_success_at: expect.any(String) }] })
    const printed = () => running.out().trim().split('\n').slice(1)
    // The test event arrived twice and is printed once.
    await until('all events are printed', () => printed().length >= 3)

    for (const id of ['again', 'again', 'last']) {
      const repeated = eventBody({ id })
      const headers = { 'service-signature': sign(repeated, { key: secret }) }
      expect((await fetch(url, { method: 'POST', body: repeated, headers })).status).toBe(204)
    }
    await until('the last event is printed', () => printed().some((text) => text.includes(' last ')))
    expect(printed()).toHaveLength(5)
    expect(printed()[0]).toMatch(/^webhook\.test [0-9a-f-]{36} \{"test": ?true\}$/)
    for (const text of printed().slice(1, 3))
      expect(text).toMatch(/^message\.received [0-9a-f-]{36} \{.*"message \d".*\}$/)
  },
)

test('a receiver without a secret names the variable to set', async ({ skip }) => {
  const running = start([process.execPath, 'receiver-typescript/receiver.ts'], { PARLEY_WEBHOOK_SECRET: '' })
  expect(await running.ended).toBe(1)
  expect(running.err()).toContain('Set PARLEY_WEBHOOK_SECRET')
  skip(spawnSync('python3', ['--version']).status !== 0, 'python3 is not installed')
  const python = start(['python3', 'receiver-python/receiver.py'], { PARLEY_WEBHOOK_SECRET: '' })
  expect(await python.ended).toBe(1)
  expect(python.err()).toContain('Set PARLEY_WEBHOOK_SECRET')
})

test('the sending example lists templates, sends one and waits until it is delivered, in a workspace with two senders', async () => {
  const { workspace, account, connection } = await service.sending.newShop()
  const { control, network } = service.sending.network
  control.numbers.create({ wabaId: account.wabaId, phoneNumber: '15552000001', verifiedName: 'Second' })
  await syncConnection(network, connection.id)
  const env = { PARLEY_URL: service.server.url, PARLEY_API_KEY: workspace.secret }
  const send = (...args: string[]) => start([process.execPath, 'send-typescript/send.ts', ...args], env)
  const listing = send()
  expect([await listing.ended, listing.err()]).toEqual([0, ''])
  expect(listing.out()).toContain('greeting en body.1=Ana')

  const sending = send('16505550123', 'greeting', 'en', 'body.1=a=b')
  await until('the program is done', async () => {
    await service.processQueues()
    return sending.hasEnded()
  })
  expect([await sending.ended, sending.err()]).toEqual([0, ''])
  expect(sending.out()).toMatch(/^msg_\S+ (delivered|read)/m)

  const invalid = send('16505550123', 'greeting', 'en')
  expect(await invalid.ended).toBe(1)
  expect(invalid.err()).toContain('template.variables.body.1')
})

function start([program = '', ...args]: string[], env: Record<string, string>, folder = '') {
  const child = spawn(program, args, { cwd: join(import.meta.dirname, folder), env: { ...process.env, ...env } })
  let out = ''
  let err = ''
  let code: number | null | undefined
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (exitCode) => {
      code = exitCode
      resolve(exitCode)
    })
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { out: () => out, err: () => err, ended, hasEnded: () => code !== undefined }
}
