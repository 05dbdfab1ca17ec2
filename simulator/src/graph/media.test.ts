import { createHash } from 'node:crypto'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { demoSecrets, newWorld, numberId, phone, type TestWorld } from '../testing/world.ts'

const authorization = `Bearer ${demoSecrets.accessToken}`

async function upload(
  { simulator }: TestWorld,
  bytes: Buffer,
  mime: string,
  fields: Record<string, string> = { messaging_product: 'whatsapp' },
) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([new Uint8Array(bytes)], { type: mime }), 'ünï.bin')
  const response = await fetch(`${simulator.url}/v25.0/${numberId}/media`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  })
  return {
    status: response.status,
    body: (await response.json()) as { id: string; error: { code: number; message: string } },
  }
}

test('an uploaded file can be looked up, downloaded with the token, sent and deleted', async () => {
  const world = await newWorld()
  const { graph, send, control, receiver } = world
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 13, 10, 13, 10])
  const { id } = (await upload(world, bytes, 'image/png')).body
  const { body } = await graph('GET', id)
  expect(body).toMatchObject({
    messaging_product: 'whatsapp',
    mime_type: 'image/png',
    file_size: bytes.length,
    id,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })
  const fetched = await fetch(String(body.url), { headers: { authorization } })
  expect(fetched.headers.get('content-type')).toBe('image/png')
  expect(Buffer.from(await fetched.arrayBuffer())).toEqual(bytes)
  expect((await fetch(String(body.url))).status).toBe(401)
  expect((await request(String(body.url), { headers: { authorization } })).statusCode).toBe(400)
  expect((await fetch(`${String(body.url)}x`, { headers: { authorization } })).status).toBe(404)
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  expect((await send({ type: 'image', image: { id } })).status).toBe(200)
  const wrongKind = await send({ type: 'video', video: { id } })
  expect(receiver.statusesOf(wrongKind.id)).toMatchObject([{ status: 'failed', errors: [{ code: 131053 }] }])
  await control.clock.advance(5 * 60_000)
  expect((await fetch(String(body.url), { headers: { authorization } })).status).toBe(404)
  expect((await graph('DELETE', id)).body).toEqual({ success: true })
  expect((await graph('GET', id)).body).toMatchObject({ error: { code: 100, error_subcode: 33 } })
})

test('an uploaded file can be sent for 30 days', async () => {
  const world = await newWorld()
  const { control, send } = world
  const { id } = (await upload(world, Buffer.from([0x89, 0x50]), 'image/png')).body
  await control.clock.advance(30 * 86_400_000 - 1000)
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  expect((await send({ type: 'image', image: { id } })).status).toBe(200)
  await control.clock.advance(1000)
  const late = await send({ type: 'image', image: { id } })
  expect([late.status, late.code]).toEqual([400, 100])
})

test('an upload with an invalid type, size or a missing parameter returns an error', async () => {
  const world = await newWorld()
  const small = Buffer.from('x')
  expect((await upload(world, small, 'application/zip')).body.error.message).toMatch(
    /one of the following types: .* Received file of type 'application\/zip'/,
  )
  expect((await upload(world, Buffer.alloc(5 * 1024 * 1024 + 1), 'image/jpeg')).body.error.code).toBe(131053)
  expect((await upload(world, Buffer.alloc(0), 'image/jpeg')).body.error.code).toBe(131053)
  expect((await upload(world, small, 'image/jpeg', {})).body.error.code).toBe(100)
  expect(
    (await upload(world, small, '', { messaging_product: 'whatsapp', type: 'audio/ogg; codecs=opus' })).status,
  ).toBe(200)
  expect((await upload(world, Buffer.alloc(6 * 1024 * 1024), 'video/mp4')).status).toBe(200)
  expect((await world.graph('POST', `${numberId}/media`, { messaging_product: 'whatsapp' })).body).toMatchObject({
    error: { code: 100 },
  })
})

test('an inbound file has a base64 digest, a short-lived URL, and an ID valid for seven days', async () => {
  const { control, receiver, graph } = await newWorld()
  const bytes = Buffer.from('scan of a contract')
  await control.phones.document(phone, {
    to: numberId,
    base64: bytes.toString('base64'),
    mimeType: 'application/pdf',
    filename: '../c.pdf',
    caption: 'Signed',
  })
  await control.idle()
  const document = receiver.messages()[0]?.document as { id: string; url: string }
  expect(document).toMatchObject({
    filename: '../c.pdf',
    caption: 'Signed',
    mime_type: 'application/pdf',
    sha256: createHash('sha256').update(bytes).digest('base64'),
  })
  const fetched = await fetch(document.url, { headers: { authorization } })
  expect(Buffer.from(await fetched.arrayBuffer())).toEqual(bytes)
  await control.clock.advance(7 * 86_400_000)
  expect((await graph('GET', document.id)).body).toMatchObject({ error: { error_subcode: 33 } })
})

test('with fetchLinks on, a link that cannot be fetched makes the message fail', async () => {
  const { send, control, receiver } = await newWorld()
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  const invalid = await send({ type: 'image', image: { link: 'https://cdn.invalid/a.png' } })
  expect(receiver.statusesOf(invalid.id)).toMatchObject([{ status: 'failed', errors: [{ code: 131053 }] }])
  control.switches.set({ fetchLinks: true })
  const missing = await send({ type: 'image', image: { link: receiver.url } })
  await expect
    .poll(() => receiver.statusesOf(missing.id))
    .toMatchObject([{ status: 'failed', errors: [{ code: 131053 }] }])
})
