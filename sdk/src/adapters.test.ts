import type { RequestListener } from 'node:http'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { serve } from '../testing/scripted.ts'
import { listenerOf } from '../testing/serve-fetch.ts'
import { eventBody, secret, sign } from '../testing/signing.ts'
import { parleyWebhook as inExpress } from './express.ts'
import { parleyWebhook as inFastify } from './fastify.ts'
import { parleyWebhook as inFetch } from './fetch.ts'
import { parleyWebhook as inHono } from './hono.ts'
import type { EventHandler, ReceiveOptions } from './receive.ts'

type Build = (
  secret: string,
  handler: EventHandler,
  options: ReceiveOptions,
) => RequestListener | Promise<RequestListener>

/** Each framework with the adapter at /hook, as its README shows it. */
const frameworks: Record<string, Build> = {
  express: (...given) => express().post('/hook', inExpress(...given)),
  'express with express.raw()': (...given) =>
    express().post('/hook', express.raw({ type: 'application/json', limit: '5mb' }), inExpress(...given)),
  'node:http': (...given) => inExpress(...given),
  async fastify(...given) {
    const app = fastify()
    app.register(inFastify(...given), { prefix: '/hook' })
    await app.ready()
    return (request, response) => app.routing(request, response)
  },
  hono: (...given) => listenerOf(new Hono().post('/hook', inHono(...given)).fetch),
  fetch: (...given) => listenerOf(inFetch(...given)),
}

async function start(build: Build, handler: EventHandler = () => {}, options: ReceiveOptions = {}) {
  const troubles: unknown[] = []
  const onError = (error: unknown) => void troubles.push(error)
  const url = await serve(await build(secret, handler, { onError, ...options }))
  const post = async (body: string, headers: Record<string, string> = { 'service-signature': sign(body) }) => {
    const given = { 'content-type': 'application/json', ...headers }
    const answer = await fetch(`${url}/hook`, { method: 'POST', headers: given, body })
    const text = await answer.text()
    return { status: answer.status, error: text === '' ? null : JSON.parse(text).error }
  }
  return { url, post, troubles }
}

describe.each(Object.entries(frameworks))('%s', (_name, build) => {
  test('a delivery is handed over and answered once the handler is done', async () => {
    const seen: string[] = []
    const { post, troubles } = await start(build, async (event) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      seen.push(event.id)
    })
    // Spaces and an order of keys that no serialiser would give back.
    const body = `{ "type":"message.received",\n "id" : "e-ñ", "data": {"n": 1.0} }`
    expect(await post(body)).toEqual({ status: 204, error: null })
    expect(seen).toEqual(['e-ñ'])
    expect(troubles).toEqual([])
  })

  test('one that is not to be trusted is refused with a reason and not handed over', async () => {
    const seen: unknown[] = []
    const { post, troubles } = await start(build, (event) => seen.push(event))
    const body = eventBody()
    expect(await post(body, { 'service-signature': sign('other') })).toMatchObject({
      status: 400,
      error: { reason: 'no_match' },
    })
    expect(await post(body, {})).toMatchObject({ status: 400, error: { reason: 'missing_header' } })
    expect(troubles).toMatchObject([{ reason: 'no_match' }, { reason: 'missing_header' }])
    expect(seen).toEqual([])
  })

  test('a handler that throws makes it 500, and only we are told why', async () => {
    const trouble = new Error('the database is at 10.0.0.7')
    const { post, troubles } = await start(build, () => Promise.reject(trouble))
    const answer = await post(eventBody())
    expect(answer).toMatchObject({ status: 500, error: { reason: 'handler_failed' } })
    expect(JSON.stringify(answer)).not.toContain('10.0.0.7')
    expect(troubles).toEqual([trouble])
  })

  test('a body up to a mebibyte is read, one beyond it refused', async () => {
    const sizes: number[] = []
    const { post } = await start(build, (event) => sizes.push(JSON.stringify(event).length))
    const room = 1024 * 1024 - eventBody({ data: '' }).length
    expect(await post(eventBody({ data: 'x'.repeat(room) }))).toMatchObject({ status: 204 })
    expect(await post(eventBody({ data: 'x'.repeat(room + 1) }))).toMatchObject({
      status: 413,
      error: { reason: 'body_too_large' },
    })
    expect(await post(eventBody())).toMatchObject({ status: 204 })
    expect(sizes.length).toBe(2)
  })

  test('a receiver without a secret or a handler does not start', async () => {
    await expect((async () => build('', () => {}, {}))()).rejects.toThrow('signing secret is missing')
    await expect((async () => build(secret, undefined as never, {}))()).rejects.toThrow('handler is missing')
  })
})

test('express.json() before the route is found out and explained', async () => {
  const { post, troubles } = await start((...given) =>
    express()
      .use(express.json())
      .post('/hook', inExpress(...given)),
  )
  expect(await post(eventBody())).toMatchObject({
    status: 400,
    error: { reason: 'body_not_raw', message: expect.stringContaining('Register this route before express.json()') },
  })
  expect(troubles).toMatchObject([{ reason: 'body_not_raw' }])
})

test('express.json() that keeps the raw body will do', async () => {
  const keep = express.json({
    verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }),
  })
  const { post } = await start((...given) =>
    express()
      .use(keep)
      .post('/hook', inExpress(...given)),
  )
  expect(await post(eventBody())).toEqual({ status: 204, error: null })
})

test('other routes of a Fastify app are parsed as ever', async () => {
  const app = fastify()
  app.register(
    inFastify(secret, () => {}),
    { prefix: '/hook' },
  )
  app.post('/other', async ({ body }) => ({ got: body }))
  const answer = await app.inject({ method: 'POST', url: '/other', payload: { a: 1 } })
  expect(answer.json()).toEqual({ got: { a: 1 } })
  await app.close()
})

test('a middleware of Hono that read the JSON before does no harm', async () => {
  const app = new Hono()
  app.use(async (context, next) => {
    await context.req.json()
    await next()
  })
  const { post } = await start((...given) => listenerOf(app.post('/hook', inHono(...given)).fetch))
  const body = `{ "id":"1",  "type":"x" }`
  expect(await post(body)).toEqual({ status: 204, error: null })
})

test('a request whose body was read before is explained', async () => {
  const { post } = await start((...given) => {
    const handle = inFetch(...given)
    return listenerOf(async (request) => {
      await request.json()
      return handle(request)
    })
  })
  expect(await post(eventBody())).toMatchObject({ status: 400, error: { reason: 'body_not_raw' } })
})
