import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { textIn } from './json.ts'
import { startSimulator } from './start.ts'
import { startReceiver } from './testing/receiver.ts'
import { appId, hello, newWorld, numberId, phone } from './testing/world.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a restart forgets nothing: things, conversations, media, waiting webhooks and unfinished journeys', async () => {
  const stateFile = join(newFolder(), 'deep', 'state.json')
  const before = await newWorld({ stateFile })
  before.control.apps.create({ id: '77777', name: 'Second' })
  before.control.switches.set({ pricingModel: 'CBP' })
  before.control.phones.change(phone, { name: 'Renamed' })
  const { id: sentId } = await before.send(hello)
  before.receiver.close()
  const { id: imageId } = await before.control.phones.image(phone, { to: numberId, caption: 'kept' })
  await before.control.idle()
  await before.simulator.stop()

  const receiver = await startReceiver()
  const after = await startSimulator({ stateFile, clock: before.clock })
  onTestFinished(async () => {
    await after.stop()
    receiver.close()
  })
  await after.control.apps.setCallback(appId, { url: receiver.url })
  expect(after.control.apps.list().map((app) => app.name)).toEqual(['Demo app', 'Second'])
  expect(after.control.phones.get(phone).name).toBe('Renamed')
  expect(after.control.switches.get().pricingModel).toBe('CBP')
  expect(after.control.phones.messages(phone).map((message) => message.id)).toEqual([sentId, imageId])
  await after.control.clock.advance(60_000)
  expect(receiver.messages()).toMatchObject([{ id: imageId, image: { caption: 'kept' } }])
  expect(receiver.statusesOf(sentId).map((one) => one.status)).toEqual(['delivered', 'read'])
  const mediaId = textIn(receiver.messages()[0]?.image, 'id')
  const headers = { authorization: 'Bearer demo-access-token' }
  const { url } = (await (await fetch(`${after.url}/v25.0/${mediaId}`, { headers })).json()) as { url: string }
  expect((await (await fetch(url, { headers })).arrayBuffer()).byteLength).toBeGreaterThan(0)
})

test('a state file that is no state file stops the start with its name', async () => {
  const stateFile = join(newFolder(), 'state.json')
  writeFileSync(stateFile, '{"half')
  await expect(startSimulator({ stateFile })).rejects.toThrow(/state\.json cannot be read/)
})

test('the state is written a moment after it changed, without a stop', async () => {
  const folder = newFolder()
  await newWorld({ stateFile: join(folder, 'state.json') })
  await expect.poll(() => readdirSync(folder), { timeout: 3_000 }).toContain('state.json')
})
