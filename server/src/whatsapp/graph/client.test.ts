import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fixture, fixtures } from '../../../testing/fixtures.ts'
import { classifySendOutcome } from '../outgoing/send-retry-policy.ts'
import { GraphClient } from './client.ts'
import { hideToken } from './hide-token.ts'
import { BadFile, checkFile, isFileAddress } from './media.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

let handler: Handler = () => {}
let requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
let server: Server
let graphUrl = ''
const client = new GraphClient({
  productVersion: '1.2.3',
  responseTimeoutMs: 300,
  deadlineMs: 1500,
  maxResponseBytes: 100_000,
})
const access = () => ({ graphUrl, accessToken: 'token-1' })
const send = () => client.sendMessage(access(), '106', { type: 'text' })

const json =
  (status: number, value: unknown, headers = {}): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
  }

beforeAll(async () => {
  server = createServer((request, response) => {
    buffer(request).then((bytes) => {
      requests.push({
        method: String(request.method),
        url: String(request.url),
        headers: request.headers,
        body: bytes.toString(),
      })
      handler(request, response, bytes.toString())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  graphUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(() => {
  requests = []
})

afterAll(async () => {
  await client.close()
  server.closeAllConnections()
  server.close()
})

describe('sending', () => {
  test('an accepted message has WhatsApp’s ID', async () => {
    handler = json(200, fixture('own/api-send-response-template.json'))
    expect(await send()).toEqual({
      kind: 'ok',
      value: {
        waMessageId: 'wamid.HBgLMTY1MDU1NTAxMjMVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA',
        waId: '16505550123',
        userId: null,
        held: false,
      },
    })
    expect(requests).toMatchObject([{ method: 'POST', url: '/v25.0/106/messages', body: '{"type":"text"}' }])
    expect(requests[0]?.headers).toMatchObject({
      authorization: 'Bearer token-1',
      'user-agent': 'Parley/1.2.3',
      'content-type': 'application/json',
    })
  })

  const responses = fixtures((_value, path) => /response-send-/.test(path))
  test.each(responses)('the response fixture %s is parsed', async (_path, body) => {
    handler = json(200, body)
    expect(await send()).toMatchObject({ kind: 'ok', value: { waMessageId: expect.stringContaining('wamid.') } })
  })

  const refusals = fixtures((_value, path) => /api-error-/.test(path))
  test.each(refusals)('the error fixture %s is refused', async (_path, body) => {
    handler = json(400, body)
    const { code } = (body as { error: { code: number } }).error
    expect(await send()).toMatchObject({ kind: 'refused', status: 400, error: { code } })
  })

  test.each<[string, Handler, object]>([
    [
      '500 without JSON',
      (_q, r) => r.writeHead(502).end('<html>Bad gateway</html>'),
      { kind: 'unknown', why: 'http_502' },
    ],
    ['200 without JSON', (_q, r) => r.writeHead(200).end('<html>'), { kind: 'unknown', why: 'response_unreadable' }],
    ['200 without an id', json(200, { messages: [] }), { kind: 'unknown', why: 'response_without_message_id' }],
    [
      'a response that is too large',
      (_q, r) => r.writeHead(200).end('x'.repeat(200_000)),
      { kind: 'unknown', why: 'response_too_large' },
    ],
    [
      'an error that is too large',
      (_q, r) => r.writeHead(400).end('x'.repeat(200_000)),
      { kind: 'refused', error: { code: 'http_400' } },
    ],
    ['a disconnect before the response', (q) => q.socket.destroy(), { kind: 'unknown' }],
    [
      'a disconnect within the response',
      (_q, r) => void r.writeHead(200, { 'content-length': 99 }).write('{', () => r.destroy()),
      { kind: 'unknown' },
    ],
    ['no response in time', () => {}, { kind: 'unknown', why: 'UND_ERR_HEADERS_TIMEOUT' }],
    [
      'half a response in time',
      (_q, r) => void r.writeHead(200).write('{'),
      { kind: 'unknown', why: 'UND_ERR_BODY_TIMEOUT' },
    ],
    [
      'a redirect',
      (_q, r) => r.writeHead(302, { location: '/elsewhere' }).end(),
      { kind: 'refused', error: { code: 'http_302' } },
    ],
    ['404 without JSON', (_q, r) => r.writeHead(404).end('no'), { kind: 'refused', status: 404 }],
    [
      '429 with Retry-After',
      (_q, r) => r.writeHead(429, { 'retry-after': '7' }).end(),
      { kind: 'refused', isTransient: true, retryAfterMs: 7000 },
    ],
  ])('%s', async (_name, how, expected) => {
    handler = how
    expect(await send()).toMatchObject(expected)
    expect(requests.length).toBe(1)
  })

  test('429 with JSON and an unlisted code is a rate limit, and the message is retried', async () => {
    handler = json(429, { error: { code: 987_654, message: 'Slow down' } }, { 'retry-after': '7' })
    expect(classifySendOutcome(await send(), 1)).toMatchObject({ kind: 'retry', afterMs: 7000, scope: 'number' })
  })

  test.each([
    ['31536000', 3_600_000],
    ['12345678901234567890', 3_600_000],
    ['3600', 3_600_000],
    ['0', null],
    ['-5', null],
    ['1e400', null],
    ['Wed, 21 Oct 2026 07:28:00 GMT', null],
  ])(
    'Retry-After %s means at most an hour, and nothing if it is no number of seconds',
    async (header, retryAfterMs) => {
      handler = json(429, { error: { code: 4, message: 'Slow down' } }, { 'retry-after': header })
      expect(await send()).toMatchObject({ kind: 'refused', retryAfterMs })
    },
  )

  test('the usage header sets the delay', async () => {
    const usage = JSON.stringify({ 102: [{ type: 'whatsapp', estimated_time_to_regain_access: 3 }] })
    handler = json(400, fixture('own/api-error-80007.json'), { 'x-business-use-case-usage': usage })
    expect(await send()).toMatchObject({ kind: 'refused', retryAfterMs: 180_000 })
    const long = JSON.stringify({ 102: [{ type: 'whatsapp', estimated_time_to_regain_access: 1e300 }] })
    handler = json(400, fixture('own/api-error-80007.json'), { 'x-business-use-case-usage': long })
    expect(await send()).toMatchObject({ kind: 'refused', retryAfterMs: 3_600_000 })
  })

  test('a request that was not sent is unreachable: unknown host, refused connection, no TLS', async () => {
    const to = (url: string) => client.sendMessage({ graphUrl: url, accessToken: 't' }, '106', {})
    expect(await to('http://127.0.0.1:1')).toMatchObject({ kind: 'unreachable', why: 'ECONNREFUSED' })
    expect(await to('http://nowhere.invalid')).toMatchObject({ kind: 'unreachable' })
    expect(await to(graphUrl.replace('http:', 'https:'))).toMatchObject({ kind: 'unreachable' })
    expect(requests).toEqual([])
  })

  test('a connection that is accepted and closed immediately has the outcome unknown', async () => {
    const closing = createTcpServer((socket) => socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(closing.address() as AddressInfo).port}`
    expect(await client.sendMessage({ graphUrl: url, accessToken: 't' }, '106', {})).toMatchObject({ kind: 'unknown' })
    closing.close()
  })

  test('a token that is invalid in a header has the reason UND_ERR_INVALID_ARG', async () => {
    const outcome = await client.sendMessage({ graphUrl, accessToken: 'a\nb' }, '106', {})
    expect(outcome).toMatchObject({ kind: 'unreachable', why: 'UND_ERR_INVALID_ARG' })
  })
})

describe('listing', () => {
  const page = (names: string[], next?: string) => ({
    data: names.map((name) => ({
      id: `id-${name}`,
      name,
      language: 'en',
      status: 'APPROVED',
      category: 'UTILITY',
      components: [],
    })),
    paging: { cursors: { after: 'x' }, ...(next !== undefined && { next }) },
  })

  test('all pages are read, and the token is sent only in the header', async () => {
    handler = (request, response, body) => {
      const after = new URL(String(request.url), graphUrl).searchParams.get('after')
      const next = `${graphUrl}/v25.0/W/message_templates?access_token=leak&after=`
      const pages: Record<string, unknown> = { 1: page(['b'], `${next}2`), 2: page(['c']) }
      json(200, pages[String(after)] ?? page(['a'], `${next}1`))(request, response, body)
    }
    const outcome = await client.listTemplates(access(), 'W')
    expect(outcome.kind === 'ok' && outcome.value.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(requests.map(({ url }) => url.includes('leak'))).toEqual([false, false, false])
  })

  test.each([
    'https://evil.example/v25.0/W',
    'http://127.0.0.1:1/x',
    '//evil.example',
    'file:///etc/passwd',
    'nonsense',
  ])('a next page at %s is not followed', async (next) => {
    handler = json(200, page(['a'], next))
    expect(await client.listTemplates(access(), 'W')).toMatchObject({ kind: 'unknown', why: 'foreign_next_page' })
    expect(requests.length).toBe(1)
  })

  test('endless pagination is stopped', async () => {
    handler = json(200, page(['a'], `${graphUrl}/v25.0/W/message_templates?after=same`))
    expect(await client.listTemplates(access(), 'W')).toMatchObject({ kind: 'unknown', why: 'too_many_pages' })
  })

  test('an error on the second page fails the whole list', async () => {
    handler = (request, response, body) =>
      request.url?.includes('after')
        ? json(400, fixture('own/api-error-190-expired.json'))(request, response, body)
        : json(200, page(['a'], `${graphUrl}/x?after=1`))(request, response, body)
    expect(await client.listTemplates(access(), 'W')).toMatchObject({ kind: 'refused', error: { code: 190 } })
  })

  test('the list fixtures are parsed', async () => {
    handler = json(200, { ...(fixture('own/api-message-templates-list.json') as object), paging: {} })
    expect(await client.listTemplates(access(), 'W')).toMatchObject({
      kind: 'ok',
      value: [
        { networkTemplateId: '700000000000001', name: 'appointment_reminder', quality: 'GREEN' },
        { name: 'order_update' },
        { name: 'coupon', status: 'PAUSED' },
        { name: 'intake_flow' },
        { name: 'otp_login', category: 'AUTHENTICATION' },
        { name: 'delivery_map', status: 'REJECTED', rejectedReason: 'INVALID_FORMAT' },
      ],
    })
    handler = json(200, fixture('WhatsApp__WhatsApp-Flows-Tools/response-get-phone-numbers.json'))
    expect(await client.listPhoneNumbers(access(), 'W')).toMatchObject({
      kind: 'ok',
      value: [
        {
          phoneNumberId: '1906385232743451',
          phoneNumber: '16315555555',
          displayName: "Jasper's Market",
          qualityRating: 'GREEN',
        },
        { phoneNumber: '16315555556', qualityRating: 'UNKNOWN' },
      ],
    })
  })

  test('subscribeApp sends the subscription', async () => {
    handler = json(200, fixture('WhatsApp__WhatsApp-Flows-Tools/response-subscribe-to-your-waba.json'))
    expect(await client.subscribeApp(access(), 'W')).toEqual({ kind: 'ok', value: true })
    expect(requests[0]).toMatchObject({ method: 'POST', url: '/v25.0/W/subscribed_apps' })
  })
})

describe('files', () => {
  const bytes = Buffer.from('the bytes of a file')
  const hash = createHash('sha256').update(bytes)
  const base64 = hash.copy().digest('base64')
  const hex = hash.digest('hex')

  test('getMedia returns the URL of a file and its hash in hex', async () => {
    handler = json(200, {
      url: 'https://lookaside.fbsbx.com/x',
      mime_type: 'image/jpeg',
      sha256: base64,
      file_size: '19',
    })
    expect(await client.getMedia(access(), '900', '106')).toEqual({
      kind: 'ok',
      value: { url: 'https://lookaside.fbsbx.com/x', mimeType: 'image/jpeg', sha256: hex, fileSize: 19 },
    })
    expect(requests[0]?.url).toBe('/v25.0/900?phone_number_id=106')
  })

  test('downloadMedia streams the file and sends the token', async () => {
    handler = (_request, response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end(bytes)
    const outcome = await client.downloadMedia(access(), `${graphUrl}/file?x=1`)
    if (outcome.kind !== 'ok') throw new Error(outcome.kind)
    expect(outcome.value.mimeType).toBe('image/jpeg')
    const checked = outcome.value.body.pipe(checkFile({ sha256: base64, maxBytes: 100 }))
    expect(await buffer(checked)).toEqual(bytes)
    expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer token-1', 'user-agent': 'Parley/1.2.3' })
  })

  test('a wrong hash or too many bytes fail the stream', async () => {
    const through = (expected: { sha256: string | null; maxBytes: number }) => {
      const check = checkFile(expected)
      check.end(bytes)
      return buffer(check)
    }
    expect(await through({ sha256: null, maxBytes: 100 })).toEqual(bytes)
    await expect(through({ sha256: '0'.repeat(64), maxBytes: 100 })).rejects.toThrow(BadFile)
    await expect(through({ sha256: hex, maxBytes: 3 })).rejects.toMatchObject({ why: 'too_large' })
  })

  test('a redirect is not followed, and a missing file is refused', async () => {
    handler = (_request, response) => response.writeHead(302, { location: `${graphUrl}/other` }).end()
    expect(await client.downloadMedia(access(), `${graphUrl}/file`)).toMatchObject({ kind: 'refused', status: 302 })
    handler = (_request, response) => response.writeHead(404).end()
    expect(await client.downloadMedia(access(), `${graphUrl}/file`)).toMatchObject({ kind: 'refused', status: 404 })
    expect(requests.map(({ url }) => url)).toEqual(['/file', '/file'])
  })

  test.each([
    ['https://lookaside.fbsbx.com/a?b', true],
    ['https://scontent.xx.fbcdn.net/a', true],
    ['https://mmg.whatsapp.net/a', true],
    ['https://graph.facebook.com/a', true],
    ['http://lookaside.fbsbx.com/a', false],
    ['https://fbsbx.com.evil.example/a', false],
    ['https://evilfbsbx.com/a', false],
    ['https://evil.example/.fbsbx.com', false],
    ['https://x@lookaside.fbsbx.com/a', false],
    ['https://lookaside.fbsbx.com:8443/a', false],
    ['https://lookaside.fbsbx.com@evil.example/a', false],
    ['http://169.254.169.254/a', false],
    ['nonsense', false],
  ])('the token may be sent to %s: %s', (url, allowed) => {
    expect(isFileAddress(url, 'https://graph.facebook.com')).toBe(allowed)
  })

  test('no request is sent to another host', async () => {
    expect(await client.downloadMedia(access(), 'http://127.0.0.1:1/x')).toEqual({
      kind: 'unreachable',
      why: 'foreign_file_host',
    })
  })
})

describe('inspecting a token', () => {
  const inspected = 'EAAG-inspected'
  const inspect = () => client.inspectToken({ graphUrl, accessToken: '600|s3cret' }, inspected)

  test('an error in its description does not repeat the token', async () => {
    const message = `Malformed access token ${inspected}, at ${'x'.repeat(470)} ${inspected}`
    handler = json(200, { data: { is_valid: false, error: { code: 190, message } } })
    const outcome = await inspect()
    expect(outcome).toMatchObject({
      value: { isValid: false, problem: expect.stringMatching(/^Malformed access token …,/) },
    })
    // Nor a part of it, where the text is cut.
    expect(JSON.stringify(outcome)).not.toContain('EAAG')
  })

  test('an error of the call does not repeat the token', async () => {
    const error_data = { details: `Cannot parse ${inspected}` }
    handler = json(400, { error: { code: 190, message: `Malformed access token ${inspected}`, error_data } })
    const outcome = await inspect()
    expect(outcome).toMatchObject({
      kind: 'refused',
      error: { code: 190, message: 'Malformed access token …', details: 'Cannot parse …' },
    })
    expect(JSON.stringify(outcome)).not.toContain(inspected)
  })
})

test.each([
  ['EAAG', 'Bad token EAAG', 'Bad token …'],
  ['600|s3cret', 'Bad token 600|s3cret, with the secret s3cret', 'Bad token …, with the secret …'],
  ['600|', 'Bad token 600|', 'Bad token …'],
])('the token %s is hidden in "%s"', (token, text, hidden) => {
  expect(hideToken(text, token)).toBe(hidden)
})
