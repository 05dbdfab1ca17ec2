import { eventTypes } from '@parley/contract/events'
import { expect, test } from 'vitest'
import { anyTarget } from '../testing/deliveries.ts'
import { echoRoutes } from '../testing/echo.ts'
import { rawResponse } from '../testing/raw.ts'
import { type TestServer, useTestServer } from '../testing/test-server.ts'
import { newWorkspace } from '../testing/workspace.ts'
import { changeKey, revokeKey } from './domain/keys/keys.ts'
import { newSecret } from './domain/keys/secret.ts'
import { createWebhook } from './domain/webhooks/webhooks.ts'

const server = useTestServer({ moreRoutes: echoRoutes })

/** All rows of all tables as text, and all log lines. */
async function everythingStored({ db, logged }: TestServer): Promise<string> {
  const tables = await db.rows<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const texts: string[] = [...logged]
  for (const { name } of tables) {
    const rows = await db.rows<{ row: unknown }>(`select to_jsonb(t) as row from ${name} t`)
    for (const { row } of rows) texts.push(JSON.stringify(row))
  }
  expect(tables.length).toBeGreaterThan(7)
  return texts.join('\n')
}

/** A secret as plain text, in base64, and in hex as PostgreSQL shows bytes. */
function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const raw = secret.startsWith('whsec_')
    ? [Buffer.from(secret.slice(6), 'base64').toString('hex'), secret.slice(6)]
    : []
  return [secret, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('hex'), ...raw]
}

test('no secret of 20 keys and 20 webhooks is in the database or the log', async () => {
  const workspace = await newWorkspace(server)
  const secrets: string[] = [workspace.secret]
  for (let index = 0; index < 20; index++) {
    const { key, secret } = await workspace.newKey({ name: `key ${index}` })
    const { webhook, secret: signing } = await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
      workspaceId: workspace.id,
      name: `hook ${index}`,
      url: 'https://example.com/',
      events: eventTypes,
    })
    expect(webhook.secret_hint).toBe(`${signing.slice(0, 10)}...${signing.slice(-4)}`)
    secrets.push(secret, signing)
    await server.call('/v1/me', { key: secret })
    await server.call('/v1/broken', { key: secret })
    if (index % 2) await changeKey(server.db, server.clock, key.id, { name: 'changed' })
    else await revokeKey(server.db, server.clock, key.id)
  }
  const listed = await workspace.call('/v1/webhook')
  await server.api.flush()
  const stored = await everythingStored(server)
  for (const secret of secrets) {
    for (const text of encodingsOf(secret)) {
      expect(stored.includes(text), text).toBe(false)
      expect(JSON.stringify(listed.body).includes(text)).toBe(false)
    }
  }
  expect(stored).not.toMatch(/prl_live_[0-9A-Za-z]{38}/)
  expect(stored).toContain('hook 19')
})

test('a secret in a header, the path, the query or the body is not stored or logged', async () => {
  const { secret } = await newWorkspace(server)
  const canary = newSecret()
  const signing = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfKt0sYWPE='
  const headers = [
    'Cookie',
    'X-Api-Key',
    'X-Forwarded-For',
    'Forwarded',
    'User-Agent',
    'Referer',
    'Origin',
    'Idempotency-Key',
    'X-Request-Id',
    'Accept',
    'Service-Signature',
    'Proxy-Authorization',
    'X-Password',
  ]
  const send = (method: string, target: string, more: string, body = '') =>
    rawResponse(
      server.url,
      `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`,
    )
  const key = `Authorization: Bearer ${secret}\r\n`
  for (const name of headers) {
    for (const value of [canary, signing]) {
      await send('GET', '/v1/me', `${key}${name}: ${value}\r\n`)
      await send('GET', '/v1/broken', `${key}${name}: Bearer ${value}\r\n`)
    }
  }
  for (const value of [canary, encodeURIComponent(signing), signing]) {
    await send('GET', `/v1/${value}`, key)
    await send('GET', `/v1/echo/${value}`, key)
    await send('GET', `/v1/broken/x${value}?token=${value}`, key)
    await send('GET', `/v1/me?api_key=${value}&${value}=1`, key)
    await send('GET', `/v1/%zz${value}`, key)
    await send('GET', `/${value}`, key)
    const json = `${key}Content-Type: application/json\r\n`
    await send('POST', '/v1/echo', json, JSON.stringify({ word: value, secret: value }))
    await send('POST', '/v1/echo', json, `{"word": ${value}`)
    await send('POST', '/v1/echo', json, `{"${value}":1}`)
  }
  for (const authorization of [`Bearer ${canary}`, `Basic ${canary}`, `${canary}`]) {
    await send('GET', '/v1/me', `Authorization: ${authorization}\r\n`)
    await send('GET', '/v1/me', `Authorization: ${authorization}\r\nAuthorization: ${authorization}\r\n`)
  }
  await rawResponse(server.url, `${canary}\r\n\r\n`)
  await server.api.flush()
  const stored = await everythingStored(server)
  expect(server.logged.join('')).toContain('a request failed unexpectedly')
  for (const value of [
    canary,
    canary.slice(9),
    signing,
    signing.slice(6),
    encodeURIComponent(signing).slice(6),
    secret,
  ]) {
    expect(stored.includes(value), value).toBe(false)
  }
})

test('the logger redacts fields with the names of secrets', async () => {
  const { newLogger } = await import('./telemetry/logger.ts')
  const lines: string[] = []
  const log = newLogger('info', { write: (line) => void lines.push(line) })
  const names = ['authorization', 'cookie', 'set-cookie', 'password', 'token', 'secret', 'code', 'body', 'access_token']
  for (const name of names) {
    log.info(
      {
        event: 'update.parked',
        [name]: 'canary',
        headers: { [name]: 'canary' },
        request: { headers: { [name]: 'canary' } },
      },
      'x',
    )
  }
  const error = Object.assign(new Error('failed'), {
    config: { headers: { authorization: 'canary' } },
    token: 'canary',
  })
  log.error({ event: 'http.request_failed', err: new Error('outer', { cause: error }) }, 'x')
  expect(lines).toHaveLength(names.length + 1)
  expect(lines.join('')).not.toContain('canary')
})
