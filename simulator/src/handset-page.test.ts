import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startSimulator } from './start.ts'
import { newWorld, numberId, phone } from './testing/world.ts'

const folder = new URL('../handset/', import.meta.url)

test('GET / returns the handset, and all files it references exist', async () => {
  const { simulator } = await newWorld()
  const page = await fetch(simulator.url)
  const html = await page.text()
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
  )
  const named = [...html.matchAll(/(?:src|href)="(\/handset\/[^"]+)"/g)].map(([, path]) => path)
  expect(named).toContain('/handset/main.ts')
  for (const path of named) expect((await fetch(simulator.url + path)).status, path).toBe(200)
  const moved = await fetch(`${simulator.url}/handset`, { redirect: 'manual' })
  expect([moved.status, moved.headers.get('location')]).toEqual([302, '/'])
})

test('only the console of the app may show the handset in a frame', async () => {
  const framedBy = async (options: { consoleUrl?: string }) => {
    const simulator = await startSimulator(options)
    const policy = (await fetch(simulator.url)).headers.get('content-security-policy') ?? ''
    await simulator.stop()
    return /frame-ancestors (.*)$/.exec(policy)?.[1]
  }
  expect(await framedBy({})).toBe("'none'")
  expect(await framedBy({ consoleUrl: 'http://127.0.0.1:8080' })).toBe('http://127.0.0.1:8080 http://localhost:8080')
  expect(await framedBy({ consoleUrl: 'https://parley.example.com/base' })).toBe('https://parley.example.com')
})

test('sources are served as JavaScript and import only each other', async () => {
  const { simulator } = await newWorld()
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  expect(names.length).toBeGreaterThan(20)
  for (const name of names) {
    const response = await fetch(`${simulator.url}/handset/${name}`)
    expect(response.headers.get('content-type'), name).toBe('text/javascript; charset=utf-8')
    const source = await response.text()
    expect(source, name).not.toMatch(/^import type|^export interface/m)
    const imported = [...source.matchAll(/^import .* from '(.*)'/gm)].map(([, path]) => path)
    for (const path of imported) expect(names, `${name} imports ${path}`).toContain(path?.replace('./', ''))
  }
})

test('files outside the handset are not served', async () => {
  const { simulator } = await newWorld()
  for (const path of [
    '/handset/tsconfig.json',
    '/handset/..%2fpackage.json',
    '/handset/%2e%2e/README.md',
    '/handset/none.ts',
  ])
    expect((await fetch(simulator.url + path)).status, path).toBe(400)
})

test('the handset never inserts markup from strings', () => {
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.ts')))
    expect(readFileSync(new URL(name, folder), 'utf8'), name).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write/,
    )
})

test('media are served inline, except types that could run scripts, which are downloads', async () => {
  const { simulator, control } = await newWorld()
  const get = async (mimeType: string, headers: Record<string, string> = {}) => {
    await control.phones.document(phone, {
      to: numberId,
      text: '<script>alert(1)</script>',
      mimeType,
      filename: 'ä.html',
    })
    const message = control.phones.messages(phone).at(-1) as { content: { id: string } }
    return fetch(`${simulator.url}/control/media/${message.content.id}`, { headers })
  }
  const page = await get('text/html')
  expect(page.headers.get('content-type')).toBe('application/octet-stream')
  expect(page.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''%C3%A4.html")
  expect(page.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  expect((await get('image/svg+xml')).headers.get('content-type')).toBe('application/octet-stream')
  const picture = await get('image/png')
  expect(picture.headers.get('content-type')).toBe('image/png')
  expect(picture.headers.get('x-content-type-options')).toBe('nosniff')
  const part = await get('audio/ogg', { range: 'bytes=1-6' })
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 1-6/25', 'script'])
  expect((await get('audio/ogg', { range: 'bytes=99-' })).status).toBe(200)
  expect((await fetch(`${simulator.url}/control/media/1`)).status).toBe(404)
  expect((await get('image/png', { origin: 'https://evil.example' })).status).toBe(403)
})

test('a message from a phone is `taken` after the webhook was accepted and `seen` after it was marked as read', async () => {
  const { control, receiver, graph } = await newWorld()
  const receipt = () => control.phones.messages(phone)[0]?.receipt
  const statuses: unknown[] = []
  control.log.listen(({ name, data }) => name === 'status' && statuses.push((data as { status: string }).status))
  receiver.respondWith(500, 500)
  const { id } = await control.phones.say(phone, { to: numberId, text: 'hi' })
  await control.idle()
  expect([receiver.requests.length, receipt()]).toEqual([2, undefined])
  await control.clock.advance(2_000)
  expect([receiver.requests.length, receipt()]).toEqual([3, 'taken'])
  await graph('POST', `${numberId}/messages`, { messaging_product: 'whatsapp', status: 'read', message_id: id })
  expect(receipt()).toBe('seen')
  expect(statuses).toEqual(['taken', 'seen_by_business'])
})

test('marking a message as read marks the earlier ones of the conversation, and says who is typing', async () => {
  const { control, graph } = await newWorld()
  const receipts = (of: string) => control.phones.messages(of, numberId).map(({ receipt }) => receipt)
  for (const text of ['one', 'two']) await control.phones.say(phone, { to: numberId, text })
  const { id } = await control.phones.say(phone, { to: numberId, text: 'three' })
  await control.phones.say(phone, { to: numberId, text: 'four' })
  await control.phones.say('16505550199', { to: numberId, text: 'another person' })
  await control.idle()
  const updates: unknown[] = []
  control.log.listen(({ name, data }) => name === 'status' && updates.push(data))
  const read = { messaging_product: 'whatsapp', status: 'read', message_id: id, typing_indicator: { type: 'text' } }
  expect((await graph('POST', `${numberId}/messages`, read)).body).toEqual({ success: true })
  expect(receipts(phone)).toEqual(['seen', 'seen', 'seen', 'taken'])
  expect(receipts('16505550199')).toEqual(['taken'])
  expect(updates.map((each) => (each as { typing: boolean }).typing)).toEqual([false, false, true])
})
