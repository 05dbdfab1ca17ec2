import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { GraphClient } from './client.ts'
import { fixture, fixtures } from './fixtures.ts'
import { BadFile, checkFile, isFileAddress } from './media.ts'

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

let answer: Answer = () => {}
let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
let server: Server
let graphUrl = ''
const client = new GraphClient({
  productVersion: '1.2.3',
  answerTimeoutMs: 300,
  deadlineMs: 1500,
  maxAnswerBytes: 100_000,
})
const access = () => ({ graphUrl, accessToken: 'token-1' })
const send = () => client.sendMessage(access(), '106', { type: 'text' })

const json =
  (status: number, value: unknown, headers = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
  }

beforeAll(async () => {
  server = createServer((request, response) => {
    buffer(request).then((bytes) => {
      seen.push({
        method: String(request.method),
        url: String(request.url),
        headers: request.headers,
        body: bytes.toString(),
      })
      answer(request, response, bytes.toString())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  graphUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(() => {
  seen = []
})

afterAll(async () => {
  await client.close()
  server.closeAllConnections()
  server.close()
})

describe('sending', () => {
  test('an accepted message has the network’s id', async () => {
    answer = json(200, fixture('own/api-send-response-template.json'))
    expect(await send()).toEqual({
      kind: 'ok',
      value: {
        waMessageId: 'wamid.HBgLMTY1MDU1NTAxMjMVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA',
        waId: '16505550123',
        userId: null,
        held: false,
      },
    })
    expect(seen).toMatchObject([{ method: 'POST', url: '/v25.0/106/messages', body: '{"type":"text"}' }])
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer token-1',
      'user-agent': 'Parley/1.2.3',
      'content-type': 'application/json',
    })
  })

  const responses = fixtures((_value, path) => /response-send-/.test(path))
  test.each(responses)('the stored answer %s is understood', async (_path, body) => {
    answer = json(200, body)
    expect(await send()).toMatchObject({ kind: 'ok', value: { waMessageId: expect.stringContaining('wamid.') } })
  })

  const refusals = fixtures((_value, path) => /api-error-/.test(path))
  test.each(refusals)('the stored refusal %s is a refusal', async (_path, body) => {
    answer = json(400, body)
    const { code } = (body as { error: { code: number } }).error
    expect(await send()).toMatchObject({ kind: 'refused', status: 400, error: { code } })
  })

  test.each<[string, Answer, object]>([
    [
      '500 without JSON',
      (_q, r) => r.writeHead(502).end('<html>Bad gateway</html>'),
      { kind: 'unknown', why: 'http_502' },
    ],
    ['200 without JSON', (_q, r) => r.writeHead(200).end('<html>'), { kind: 'unknown', why: 'answer_unreadable' }],
    ['200 without an id', json(200, { messages: [] }), { kind: 'unknown', why: 'answer_without_message_id' }],
    [
      'a giant answer',
      (_q, r) => r.writeHead(200).end('x'.repeat(200_000)),
      { kind: 'unknown', why: 'answer_too_large' },
    ],
    [
      'a giant refusal',
      (_q, r) => r.writeHead(400).end('x'.repeat(200_000)),
      { kind: 'refused', error: { code: 'http_400' } },
    ],
    ['a cut before the answer', (q) => q.socket.destroy(), { kind: 'unknown' }],
    [
      'a cut within the answer',
      (_q, r) => void r.writeHead(200, { 'content-length': 99 }).write('{', () => r.destroy()),
      { kind: 'unknown' },
    ],
    ['no answer in time', () => {}, { kind: 'unknown', why: 'UND_ERR_HEADERS_TIMEOUT' }],
    [
      'half an answer in time',
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
      '429 with a wait',
      (_q, r) => r.writeHead(429, { 'retry-after': '7' }).end(),
      { kind: 'refused', isTransient: true, retryAfterMs: 7000 },
    ],
  ])('%s', async (_name, how, expected) => {
    answer = how
    expect(await send()).toMatchObject(expected)
    expect(seen.length).toBe(1)
  })

  test('the usage header says how long to wait', async () => {
    const usage = JSON.stringify({ 102: [{ type: 'whatsapp', estimated_time_to_regain_access: 3 }] })
    answer = json(400, fixture('own/api-error-80007.json'), { 'x-business-use-case-usage': usage })
    expect(await send()).toMatchObject({ kind: 'refused', retryAfterMs: 180_000 })
  })

  test('what never left is told apart: no such host, nobody listening, no TLS', async () => {
    const to = (url: string) => client.sendMessage({ graphUrl: url, accessToken: 't' }, '106', {})
    expect(await to('http://127.0.0.1:1')).toMatchObject({ kind: 'unreachable', why: 'ECONNREFUSED' })
    expect(await to('http://nowhere.invalid')).toMatchObject({ kind: 'unreachable' })
    expect(await to(graphUrl.replace('http:', 'https:'))).toMatchObject({ kind: 'unreachable' })
    expect(seen).toEqual([])
  })

  test('a connection that is taken and cut at once is not sure', async () => {
    const slammer = createTcpServer((socket) => socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => slammer.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(slammer.address() as AddressInfo).port}`
    expect(await client.sendMessage({ graphUrl: url, accessToken: 't' }, '106', {})).toMatchObject({ kind: 'unknown' })
    slammer.close()
  })

  test('a token no header can hold is no reason to try again', async () => {
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

  test('all pages are read, and the token stays in the header', async () => {
    answer = (request, response, body) => {
      const after = new URL(String(request.url), graphUrl).searchParams.get('after')
      const next = `${graphUrl}/v25.0/W/message_templates?access_token=leak&after=`
      const pages: Record<string, unknown> = { 1: page(['b'], `${next}2`), 2: page(['c']) }
      json(200, pages[String(after)] ?? page(['a'], `${next}1`))(request, response, body)
    }
    const outcome = await client.listTemplates(access(), 'W')
    expect(outcome.kind === 'ok' && outcome.value.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(seen.map(({ url }) => url.includes('leak'))).toEqual([false, false, false])
  })

  test.each([
    'https://evil.example/v25.0/W',
    'http://127.0.0.1:1/x',
    '//evil.example',
    'file:///etc/passwd',
    'nonsense',
  ])('a next page at %s is not followed', async (next) => {
    answer = json(200, page(['a'], next))
    expect(await client.listTemplates(access(), 'W')).toMatchObject({ kind: 'unknown', why: 'foreign_next_page' })
    expect(seen.length).toBe(1)
  })

  test('pages without end come to an end', async () => {
    answer = json(200, page(['a'], `${graphUrl}/v25.0/W/message_templates?after=same`))
    expect(await client.listTemplates(access(), 'W')).toMatchObject({ kind: 'unknown', why: 'too_many_pages' })
  })

  test('an error on the second page is an error of the whole', async () => {
    answer = (request, response, body) =>
      request.url?.includes('after')
        ? json(400, fixture('own/api-error-190-expired.json'))(request, response, body)
        : json(200, page(['a'], `${graphUrl}/x?after=1`))(request, response, body)
    expect(await client.listTemplates(access(), 'W')).toMatchObject({ kind: 'refused', error: { code: 190 } })
  })

  test('stored listings are understood', async () => {
    answer = json(200, { ...(fixture('own/api-message-templates-list.json') as object), paging: {} })
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
    answer = json(200, fixture('WhatsApp__WhatsApp-Flows-Tools/response-get-phone-numbers.json'))
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

  test('the app is subscribed', async () => {
    answer = json(200, fixture('WhatsApp__WhatsApp-Flows-Tools/response-subscribe-to-your-waba.json'))
    expect(await client.subscribeApp(access(), 'W')).toEqual({ kind: 'ok', value: true })
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/v25.0/W/subscribed_apps' })
  })
})

describe('files', () => {
  const bytes = Buffer.from('the bytes of a file')
  const hash = createHash('sha256').update(bytes)
  const base64 = hash.copy().digest('base64')
  const hex = hash.digest('hex')

  test('the address of a file, with its hash as hex', async () => {
    answer = json(200, {
      url: 'https://lookaside.fbsbx.com/x',
      mime_type: 'image/jpeg',
      sha256: base64,
      file_size: '19',
    })
    expect(await client.getMedia(access(), '900', '106')).toEqual({
      kind: 'ok',
      value: { url: 'https://lookaside.fbsbx.com/x', mimeType: 'image/jpeg', sha256: hex, fileSize: 19 },
    })
    expect(seen[0]?.url).toBe('/v25.0/900?phone_number_id=106')
  })

  test('the bytes stream, with the token', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end(bytes)
    const outcome = await client.downloadMedia(access(), `${graphUrl}/file?x=1`)
    if (outcome.kind !== 'ok') throw new Error(outcome.kind)
    expect(outcome.value.mimeType).toBe('image/jpeg')
    const checked = outcome.value.body.pipe(checkFile({ sha256: base64, maxBytes: 100 }))
    expect(await buffer(checked)).toEqual(bytes)
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer token-1', 'user-agent': 'Parley/1.2.3' })
  })

  test('other bytes, or too many, end in an error', async () => {
    const through = (expected: { sha256: string | null; maxBytes: number }) => {
      const check = checkFile(expected)
      check.end(bytes)
      return buffer(check)
    }
    expect(await through({ sha256: null, maxBytes: 100 })).toEqual(bytes)
    await expect(through({ sha256: '0'.repeat(64), maxBytes: 100 })).rejects.toThrow(BadFile)
    await expect(through({ sha256: hex, maxBytes: 3 })).rejects.toMatchObject({ why: 'too_large' })
  })

  test('a redirect is not followed, a missing file is a refusal', async () => {
    answer = (_request, response) => response.writeHead(302, { location: `${graphUrl}/other` }).end()
    expect(await client.downloadMedia(access(), `${graphUrl}/file`)).toMatchObject({ kind: 'refused', status: 302 })
    answer = (_request, response) => response.writeHead(404).end()
    expect(await client.downloadMedia(access(), `${graphUrl}/file`)).toMatchObject({ kind: 'refused', status: 404 })
    expect(seen.map(({ url }) => url)).toEqual(['/file', '/file'])
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
  ])('the token may go to %s: %s', (url, allowed) => {
    expect(isFileAddress(url, 'https://graph.facebook.com')).toBe(allowed)
  })

  test('a foreign address is not asked at all', async () => {
    expect(await client.downloadMedia(access(), 'http://127.0.0.1:1/x')).toEqual({
      kind: 'unreachable',
      why: 'foreign_file_host',
    })
  })
})
