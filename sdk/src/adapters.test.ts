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
import { newSeenEvents } from './seen.ts'

type Build = (
  secret: string,
  handler: EventHandler,
  options: ReceiveOptions,
) => RequestListener | Promise<RequestListener>

/** Each framework with the adapter at /hook, as in the README. */
const frameworks: Record<string, Build> = {
  express: (...args) => express().post('/hook', inExpress(...args)),
  'express with express.raw()': (...args) =>
    express().post('/hook', express.raw({ type: 'application/json', limit: '5mb' }), inExpress(...args)),
  'node:http': (...args) => inExpress(...args),
  async fastify(...args) {
    const app = fastify()
    app.register(inFastify(...args), { prefix: '/hook' })
    await app.ready()
    return (request, response) => app.routing(request, response)
  },
  hono: (...args) => listenerOf(new Hono().post('/hook', inHono(...args)).fetch),
  fetch: (...args) => listenerOf(inFetch(...args)),
}

async function start(build: Build, handler: EventHandler = () => {}, options: ReceiveOptions = {}) {
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const url = await serve(await build(secret, handler, { onError, ...options }))
  const post = async (body: string, headers: Record<string, string> = { 'service-signature': sign(body) }) => {
    const allHeaders = { 'content-type': 'application/json', ...headers }
    const response = await fetch(`${url}/hook`, { method: 'POST', headers: allHeaders, body })
    const text = await response.text()
    return { status: response.status, error: text === '' ? null : JSON.parse(text).error }
  }
  return { url, post, errors }
}

describe.each(Object.entries(frameworks))('%s', (_name, build) => {
  test('the handler is called, and the response is 204 after it has finished', async () => {
    const seen: string[] = []
    const { post, errors } = await start(build, async (event) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      seen.push(event.id)
    })
    // Whitespace and key order that a serializer would not reproduce.
    const body = `{ "type":"message.received",\n "id" : "e-ñ", "data": {"n": 1.0} }`
    expect(await post(body)).toEqual({ status: 204, error: null })
    expect(seen).toEqual(['e-ñ'])
    expect(errors).toEqual([])
  })

  test('an invalid delivery gets 400 with a reason, and the handler is not called', async () => {
    const seen: unknown[] = []
    const { post, errors } = await start(build, (event) => seen.push(event))
    const body = eventBody()
    expect(await post(body, { 'service-signature': sign('other') })).toMatchObject({
      status: 400,
      error: { reason: 'no_match' },
    })
    expect(await post(body, {})).toMatchObject({ status: 400, error: { reason: 'missing_header' } })
    expect(errors).toMatchObject([{ reason: 'no_match' }, { reason: 'missing_header' }])
    expect(seen).toEqual([])
  })

  test('a handler that throws gives 500 without the details, which go to onError', async () => {
    const error = new Error('the database is at 10.0.0.7')
    const { post, errors } = await start(build, () => Promise.reject(error))
    const response = await post(eventBody())
    expect(response).toMatchObject({ status: 500, error: { reason: 'handler_failed' } })
    expect(JSON.stringify(response)).not.toContain('10.0.0.7')
    expect(errors).toEqual([error])
  })

  test('a body of 1 MiB is accepted, a larger one gets 413', async () => {
    const sizes: number[] = []
    const { post } = await start(build, (event) => sizes.push(JSON.stringify(event).length))
    const free = 1024 * 1024 - eventBody({ data: '' }).length
    expect(await post(eventBody({ data: 'x'.repeat(free) }))).toMatchObject({ status: 204 })
    expect(await post(eventBody({ data: 'x'.repeat(free + 1) }))).toMatchObject({
      status: 413,
      error: { reason: 'body_too_large' },
    })
    expect(await post(eventBody({ id: 'later' }))).toMatchObject({ status: 204 })
    expect(sizes.length).toBe(2)
  })

  test('with acknowledge: before, the response is 204 while the handler still waits, and its error goes to onError', async () => {
    const steps: string[] = []
    const error = new Error('the database is down')
    let responded = () => {}
    const response = new Promise<void>((resolve) => {
      responded = resolve
    })
    const ended = Promise.withResolvers<unknown>()
    const { post } = await start(
      build,
      async () => {
        await response
        steps.push('handled')
        throw error
      },
      { acknowledge: 'before', onError: (...reported) => ended.resolve(reported) },
    )
    expect(await post(eventBody())).toEqual({ status: 204, error: null })
    steps.push('acknowledged')
    responded()
    expect(await ended.promise).toEqual([error, JSON.parse(eventBody())])
    expect(steps).toEqual(['acknowledged', 'handled'])
    expect(await post('forged', {})).toMatchObject({ status: 400 })
  })

  test('a repeated event is handled once', async () => {
    const handled: string[] = []
    const { post } = await start(build, ({ id }) => handled.push(id), { seen: newSeenEvents() })
    for (const id of ['a', 'b', 'a', 'a']) expect(await post(eventBody({ id }))).toMatchObject({ status: 204 })
    expect(handled).toEqual(['a', 'b'])
  })

  test('a receiver without a secret or a handler throws', async () => {
    await expect((async () => build('', () => {}, {}))()).rejects.toThrow('signing secret is missing')
    await expect((async () => build(secret, undefined as never, {}))()).rejects.toThrow('handler is missing')
  })
})

test('express.json() before the route gives body_not_raw with an explanation', async () => {
  const { post, errors } = await start((...args) =>
    express()
      .use(express.json())
      .post('/hook', inExpress(...args)),
  )
  expect(await post(eventBody())).toMatchObject({
    status: 400,
    error: { reason: 'body_not_raw', message: expect.stringContaining('Register this route before express.json()') },
  })
  expect(errors).toMatchObject([{ reason: 'body_not_raw' }])
})

test('express.json() works if its verify function keeps the raw body', async () => {
  const keep = express.json({
    verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }),
  })
  const { post } = await start((...args) =>
    express()
      .use(keep)
      .post('/hook', inExpress(...args)),
  )
  expect(await post(eventBody())).toEqual({ status: 204, error: null })
})

test('other routes of a Fastify app are still parsed', async () => {
  const app = fastify()
  app.register(
    inFastify(secret, () => {}),
    { prefix: '/hook' },
  )
  app.post('/other', async ({ body }) => ({ got: body }))
  const response = await app.inject({ method: 'POST', url: '/other', payload: { a: 1 } })
  expect(response.json()).toEqual({ got: { a: 1 } })
  await app.close()
})

test('a Hono middleware may read the JSON before', async () => {
  const app = new Hono()
  app.use(async (context, next) => {
    await context.req.json()
    await next()
  })
  const { post } = await start((...args) => listenerOf(app.post('/hook', inHono(...args)).fetch))
  const body = `{ "id":"1",  "type":"x" }`
  expect(await post(body)).toEqual({ status: 204, error: null })
})

test('a request whose body was already read gives an explanation', async () => {
  const { post } = await start((...args) => {
    const handle = inFetch(...args)
    return listenerOf(async (request) => {
      await request.json()
      return handle(request)
    })
  })
  expect(await post(eventBody())).toMatchObject({ status: 400, error: { reason: 'body_not_raw' } })
})
