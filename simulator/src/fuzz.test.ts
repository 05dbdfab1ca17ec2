import fc from 'fast-check'
import { expect, test } from 'vitest'
import { businessActions } from './business/actions.ts'
import { phoneActions } from './phones/actions.ts'
import { demoSecrets, hello, newWorld, numberId, phone, wabaId } from './testing/world.ts'

const types = [
  'text',
  'image',
  'audio',
  'video',
  'document',
  'sticker',
  'location',
  'contacts',
  'reaction',
  'interactive',
  'template',
]
const keys = [
  'type',
  'body',
  'text',
  'id',
  'link',
  'name',
  'language',
  'code',
  'components',
  'parameters',
  'action',
  'buttons',
  'sections',
  'rows',
  'cards',
  'header',
  'index',
  'message_id',
  'toString',
  'constructor',
  '__proto__',
]
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1e21,
      '',
      'x',
      'button',
      'list',
      'flow',
      'header',
      'body',
      'hello_world',
      'en_US',
      '0',
      '\u0000',
      '💥',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 4 }),
  ),
}))

test('random messages never cause a server error in the Graph API', async () => {
  const { send, control } = await newWorld()
  control.switches.set({ pairLimit: false, throughputLimit: false })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...types), anything, anything, async (type, content, other) => {
      const { status, body } = await send({ type, [type]: content, context: other, biz_opaque_callback_data: other })
      expect([200, 400, 404]).toContain(status)
      expect(body).toHaveProperty(status === 200 ? 'messages' : 'error')
    }),
    { numRuns: 300 },
  )
  expect((await send(hello)).status).toBe(200)
})

test('random paths, methods, headers and bodies never cause a server error', async () => {
  const { simulator, send } = await newWorld()
  const parts = fc.constantFrom(
    'v25.0',
    'v1',
    numberId,
    wabaId,
    'messages',
    'media',
    'message_templates',
    'control',
    'phones',
    phone,
    'say',
    '%00',
    '..',
    '',
    'x'.repeat(500),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(parts, { maxLength: 4 }),
      fc.constantFrom('GET', 'POST', 'DELETE', 'PATCH', 'PUT', 'OPTIONS'),
      fc.constantFrom(
        'application/json',
        'multipart/form-data; boundary=x',
        'multipart/form-data',
        'application/x-www-form-urlencoded',
        'text/plain',
      ),
      fc.constantFrom('{', '[]', '"x"', '{"a":', 'a=1&b={', '--x\r\n\r\n--x--', '\u0000'),
      async (path, method, type, body) => {
        const response = await fetch(`${simulator.url}/${path.join('/')}`, {
          method,
          headers: { authorization: `Bearer ${demoSecrets.accessToken}`, 'content-type': type },
          ...(method === 'GET' ? {} : { body }),
        })
        await response.arrayBuffer()
        expect(response.status).toBeLessThan(500)
      },
    ),
    { numRuns: 300 },
  )
  expect((await send(hello)).status).toBe(200)
})

test('random action input never causes a server error', async () => {
  const { simulator, control } = await newWorld()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(
        ...Object.keys(phoneActions).map((name) => `phones/${phone}/${name}`),
        ...Object.keys(businessActions).map((name) => `numbers/${numberId}/${name}`),
      ),
      fc.dictionary(
        fc.constantFrom(
          'to',
          'text',
          'message',
          'button',
          'items',
          'files',
          'values',
          'emoji',
          'contacts',
          'newNumber',
          'threads',
          'phones',
          'media',
        ),
        anything,
      ),
      async (path, input) => {
        const response = await fetch(`${simulator.url}/control/${path}`, {
          method: 'POST',
          body: JSON.stringify(path.startsWith('numbers') ? { phone, ...input } : input),
        })
        expect([200, 400, 404, 409]).toContain(response.status)
      },
    ),
    { numRuns: 200 },
  )
  await control.idle()
})
