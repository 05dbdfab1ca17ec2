import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { textIn } from './json.ts'
import { type Simulator, startSimulator } from './start.ts'
import { startReceiver } from './testing/receiver.ts'
import { appId, demoSecrets, hello, newWorld, numberId, phone, text } from './testing/world.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a restart restores objects, conversations, media, queued webhooks and unfinished messages', async () => {
  const stateFile = join(newFolder(), 'deep', 'state.json')
  const before = await newWorld({ stateFile })
  before.control.apps.create({ id: '77777', name: 'Second' })
  await before.control.apps.setCallback('77777', { url: before.receiver.url, verify: false, fields: ['messages'] })
  before.control.switches.set({ pricingModel: 'CBP' })
  before.control.phones.change(phone, { name: 'Renamed' })
  const { id: sentId } = await before.send(hello)
  before.receiver.close()
  const { id: imageId } = await before.control.phones.image(phone, { to: numberId, caption: 'kept' })
  await before.control.idle()
  await before.simulator.stop()

  const receiver = await startReceiver(demoSecrets.verifyToken)
  const after = await startSimulator({ stateFile, clock: before.clock })
  onTestFinished(async () => {
    await after.stop()
    receiver.close()
  })
  await after.control.apps.setCallback(appId, { url: receiver.url })
  expect(after.control.apps.list()).toMatchObject([{ name: 'Demo app' }, { name: 'Second', fields: ['messages'] }])
  expect(after.control.phones.get(phone).name).toBe('Renamed')
  expect(after.control.switches.get().pricingModel).toBe('CBP')
  expect(after.control.phones.messages(phone).map((message) => message.id)).toEqual([sentId, imageId])
  await after.control.clock.advance(60_000)
  expect(receiver.messages()).toMatchObject([{ id: imageId, image: { caption: 'kept' } }])
  expect(receiver.statusesOf(sentId).map((one) => one.status)).toEqual(['delivered', 'read'])
  const mediaId = textIn(receiver.messages()[0]?.image, 'id')
  const headers = { authorization: `Bearer ${demoSecrets.accessToken}` }
  const { url } = (await (await fetch(`${after.url}/v25.0/${mediaId}`, { headers })).json()) as { url: string }
  expect((await (await fetch(url, { headers })).arrayBuffer()).byteLength).toBeGreaterThan(0)
})

test('a restart keeps edits, deletions, the conversations of an agent and the used free messages', async () => {
  const stateFile = join(newFolder(), 'state.json')
  const before = await newWorld({ stateFile })
  before.control.numbers.change(numberId, { switches: { freeServiceMessages: 1 } })
  await before.control.phones.say(phone, { to: numberId, text: 'befor' })
  await before.send(text('free'))
  await before.control.phones.edit(phone, { text: 'before' })
  await before.control.phones.delete(phone, {})
  await before.control.numbers.handover(numberId, { phone, owner: 'agent' })
  await before.control.idle()
  await before.simulator.stop()

  const after = await newWorld({ stateFile, clock: before.clock })
  expect(after.control.phones.messages(phone)[0]).toMatchObject({
    content: { body: 'before' },
    edits: [{ content: { body: 'befor' } }],
    deletedAt: expect.any(String),
  })
  await after.send(text('billed'))
  expect(after.receiver.changes().at(-1)).toMatchObject({
    field: 'standby',
    value: { standby: { statuses: [{ pricing: { type: 'regular' } }] } },
  })
})

test('without given secrets the demo app gets random ones, and a restart and a reset keep them', async () => {
  const stateFile = join(newFolder(), 'state.json')
  const secretsOf = ({ control }: Simulator) => [control.apps.list()[0]?.secret, control.tokens.list()[0]?.token]
  const other = await startSimulator()
  const first = await startSimulator({ stateFile })
  const secrets = secretsOf(first)
  expect(secrets).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^EAA\w{64}$/)])
  expect(secretsOf(other)).not.toEqual(secrets)
  await Promise.all([first.stop(), other.stop()])
  expect(statSync(stateFile).mode & 0o777).toBe(0o600)

  const again = await startSimulator({ stateFile })
  expect(secretsOf(again)).toEqual(secrets)
  again.control.reset('empty')
  again.control.reset('demo')
  expect(secretsOf(again)).toEqual(secrets)
  await again.stop()
})

test('an invalid state file stops the start with an error that names the file', async () => {
  const stateFile = join(newFolder(), 'state.json')
  writeFileSync(stateFile, '{"half')
  await expect(startSimulator({ stateFile })).rejects.toThrow(/state\.json cannot be read/)
})

test('the state file is written shortly after a change, not only on stop', async () => {
  const folder = newFolder()
  await newWorld({ stateFile: join(folder, 'state.json') })
  await expect.poll(() => readdirSync(folder)).toContain('state.json')
})
