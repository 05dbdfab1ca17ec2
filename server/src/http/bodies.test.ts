import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { echoRoutes } from '../../testing/echo.ts'
import { type ExpectedError, expectRefusal } from '../../testing/expect-error.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../testing/workspace.ts'
import { newSecret } from '../domain/keys/secret.ts'

const server = useTestServer({ moreRoutes: echoRoutes })

const json = { 'content-type': 'application/json' }
const tooLarge = `{"word":"a"${' '.repeat(257 * 1024)}}`
const limit = `{"word":"a"}${' '.repeat(256 * 1024 - 12)}`
const notAllowed = 'The request body contains a forbidden key, such as "__proto__".'
const tooDeep = 'The request body is nested more than 64 levels deep.'

/** Sends POST /v1/echo, with a Content-Length or chunked. */
async function post(
  workspace: Pick<TestWorkspace, 'secret'>,
  body: string | Buffer | null,
  headers: Record<string, string> = json,
  chunked = false,
) {
  const response = await new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
    const length = body !== null && !chunked ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    const call = request(
      `${server.url}/v1/echo`,
      { method: 'POST', headers: { authorization: `Bearer ${workspace.secret}`, ...length, ...headers }, agent: false },
      (reply) => {
        let text = ''
        reply.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        reply.on('end', () =>
          resolve({
            status: reply.statusCode ?? 0,
            headers: new Headers(reply.headers as Record<string, string>),
            text,
          }),
        )
      },
    )
    call.on('error', reject)
    if (body !== null) call.write(body)
    call.end()
  })
  return { ...response, body: JSON.parse(response.text) as unknown }
}

test.each<[way: string, body: string | Buffer, message: string | undefined]>([
  ['empty', '', undefined],
  ['not JSON', 'word=a', undefined],
  ['cut off', '{"word":"a"', undefined],
  ['two documents', '{"word":"a"}{"word":"b"}', undefined],
  ['single quotes', "{'word':'a'}", undefined],
  ['NaN', '{"word":NaN}', undefined],
  ['a NUL byte', '{"word":"a"}\0', undefined],
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 'The request body is not valid UTF-8.'],
  ['UTF-16', Buffer.from('{"word":"ä"}', 'utf16le'), undefined],
  ['100,000 arrays deep', '['.repeat(100_000), tooDeep],
  ['100,000 arrays deep and closed', `{"word":"a","any":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, tooDeep],
  ['100,000 objects deep', '{"a":'.repeat(40_000), tooDeep],
  ['65 levels deep', `${'['.repeat(65)}${']'.repeat(65)}`, tooDeep],
  ['a key __proto__', '{"word":"a","__proto__":{"word":"b"}}', notAllowed],
  ['an escaped key __proto__', '{"word":"a","\\u005f_proto__":{"admin":true}}', notAllowed],
  ['a nested key __proto__', '{"word":"a","any":[{"b":{"__proto__":null}}]}', notAllowed],
  ['constructor.prototype', '{"word":"a","any":{"constructor":{"prototype":{"admin":true}}}}', notAllowed],
])('an invalid JSON body is refused: %s', async (_way, body, message) => {
  const response = await post(await newWorkspace(server), body)
  expectRefusal(response, { code: 'invalid_json', ...(message === undefined ? {} : { message }) })
})

test('braces in strings do not count as nesting', async () => {
  const response = await post(await newWorkspace(server), JSON.stringify({ word: 'a', any: '[{"\\'.repeat(1000) }))
  expect(response.status).toBe(201)
})

test.each<[way: string, headers: Record<string, string>]>([
  ['text/plain', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['XML', { 'content-type': 'application/xml' }],
  ['a near miss', { 'content-type': 'application/jsonp' }],
  ['no type at all', {}],
  ['an empty type', { 'content-type': '' }],
  ['an invalid type', { 'content-type': 'json' }],
  ['two types', { 'content-type': 'application/json, text/plain' }],
  ['gzip', { ...json, 'content-encoding': 'gzip' }],
  ['identity, gzip', { ...json, 'content-encoding': 'identity, gzip' }],
])('an unsupported body is refused with 415: %s', async (_way, headers) => {
  const body = headers['content-encoding'] ? gzipSync('{"word":"a"}') : '{"word":"a"}'
  expectRefusal(await post(await newWorkspace(server), body, headers), { code: 'unsupported_media_type' })
})

test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
  'a body with the content type %s is accepted',
  async (type) => {
    const response = await post(await newWorkspace(server), '{"word":"a"}', { 'content-type': type })
    expect([response.status, response.body]).toEqual([201, { word: 'a' }])
  },
)

test.each<[way: string, headers: Record<string, string>]>([
  ['no content type', {}],
  ['an empty content type', { 'content-type': '' }],
])('a request without a body is refused: %s', async (_way, headers) => {
  const error = { param: 'body', code: 'wrong_type', message: 'The request body must be an object.' }
  const response = await post(await newWorkspace(server), null, { 'content-length': '0', ...headers })
  expectRefusal(response, { code: 'validation_failed', message: error.message, param: 'body', errors: [error] })
})

test.each([false, true])('a body of 256 KiB is accepted, 257 KiB is refused; chunked: %s', async (chunked) => {
  const workspace = await newWorkspace(server)
  expect((await post(workspace, limit, json, chunked)).status).toBe(201)
  expectRefusal(await post(workspace, tooLarge, json, chunked), { code: 'payload_too_large' })
  expectRefusal(await post({ secret: newSecret() }, tooLarge, json, chunked), {
    code: 'invalid_key',
    headers: { 'www-authenticate': 'Bearer' },
  })
})

test.each<[way: string, body: unknown, refused: Omit<ExpectedError, 'code'>]>([
  [
    'mass assignment',
    { word: 'a', workspace_id: 'x', status: 'sent', role: 'admin' },
    {
      param: 'workspace_id',
      errors: ['workspace_id', 'status', 'role'].map((param) => ({
        param,
        code: 'unknown',
        message: `"${param}" is not a known field.`,
      })),
    },
  ],
  [
    'a nested unknown field',
    { word: 'a', inner: { flag: true, admin: true } },
    {
      param: 'inner.admin',
      errors: [{ param: 'inner.admin', code: 'unknown', message: '"inner.admin" is not a known field.' }],
    },
  ],
  [
    'a number as text',
    { word: 'a', count: '1' },
    { param: 'count', errors: [{ param: 'count', code: 'wrong_type', message: '"count" must be a whole number.' }] },
  ],
  [
    'an empty object',
    {},
    { param: 'word', errors: [{ param: 'word', code: 'missing', message: '"word" is required.' }] },
  ],
  [
    'an array',
    [],
    { param: 'body', errors: [{ param: 'body', code: 'wrong_type', message: 'The request body must be an object.' }] },
  ],
  [
    'null',
    'null',
    { param: 'body', errors: [{ param: 'body', code: 'wrong_type', message: 'The request body must be an object.' }] },
  ],
])('every error in a body is reported: %s', async (_way, body, refused) => {
  const workspace = await newWorkspace(server)
  const response = await workspace.call('/v1/echo', { method: 'POST', body })
  expectRefusal(response, { code: 'validation_failed', ...refused })
})

test('at most 20 errors are reported, and a long field name is shortened', async () => {
  const workspace = await newWorkspace(server)
  const names = Array.from({ length: 20_000 }, (_, index) => `n${index}`)
  const response = await workspace.call('/v1/echo', {
    method: 'POST',
    body: { word: 'a', ['x'.repeat(50_000)]: 1, ...Object.fromEntries(names.map((name) => [name, 1])) },
  })
  const { error } = response.body as { error: { errors: { param: string }[] } }
  expect(response.status).toBe(400)
  expect(error.errors).toHaveLength(20)
  expect(JSON.stringify(error).length).toBeLessThan(5_000)
})
