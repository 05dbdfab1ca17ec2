import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { businessActions } from '../business/actions.ts'
import { isObject, type Json } from '../json.ts'
import { phoneActions } from '../phones/actions.ts'
import { ControlError, invalid, number, object, oneOf, optional } from '../shape.ts'
import type { Control } from './control.ts'
import { streamEvents } from './events.ts'
import { sendMedia } from './media-file.ts'
import { type Dataset, type DatasetName, datasetShape } from './shapes.ts'

interface ControlRequest {
  id: string
  query: Record<string, string>
  // Not validated yet: the shapes in `control` do that.
  body: never
}

type Row = [
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  run: (control: Control, request: ControlRequest) => unknown,
]

/** The control API: each row maps to one method of `Control`. */
const rows: Row[] = [
  ['GET', '/apps', (control) => control.apps.list()],
  ['POST', '/apps', (control, { body }) => control.apps.create(body)],
  ['PUT', '/apps/:id/callback', (control, { id, body }) => control.apps.setCallback(id, body)],
  ['GET', '/wabas', (control) => control.wabas.list()],
  ['POST', '/wabas', (control, { body }) => control.wabas.create(body)],
  ['POST', '/wabas/:id/notify', (control, { id, body }) => control.wabas.notify(id, body)],
  ['GET', '/numbers', (control) => control.numbers.list()],
  ['POST', '/numbers', (control, { body }) => control.numbers.create(body)],
  ['PATCH', '/numbers/:id', (control, { id, body }) => control.numbers.change(id, body)],
  ['GET', '/tokens', (control) => control.tokens.list()],
  ['POST', '/tokens', (control, { body }) => control.tokens.create(body)],
  ['PATCH', '/tokens/:id', (control, { id, body }) => control.tokens.change(id, body)],
  ['GET', '/templates', (control) => control.templates.list()],
  ['POST', '/templates', (control, { body }) => control.templates.create(body)],
  ['POST', '/templates/reviews', (control, { body }) => control.templates.reviewNext(body)],
  ['PATCH', '/templates/:id', (control, { id, body }) => control.templates.setStatus(id, body)],
  ['GET', '/flows', (control) => control.flows.list()],
  ['POST', '/flows', (control, { body }) => control.flows.create(body)],
  ['GET', '/catalogs', (control) => control.catalogs.list()],
  ['POST', '/catalogs', (control, { body }) => control.catalogs.create(body)],
  ['GET', '/phones', (control) => control.phones.list()],
  ['GET', '/phones/:id', (control, { id }) => control.phones.get(id)],
  ['PATCH', '/phones/:id', (control, { id, body }) => control.phones.change(id, body)],
  ['GET', '/phones/:id/messages', (control, { id, query }) => control.phones.messages(id, query.to)],
  ['GET', '/phones/:id/scenario', (control, { id, query }) => control.phones.scenario(id, query.to, query.contents)],
  ['GET', '/switches', (control) => control.switches.get()],
  ['PATCH', '/switches', (control, { body }) => control.switches.set(body)],
  ['GET', '/webhooks', (control) => control.webhooks.get()],
  ['PATCH', '/webhooks', (control, { body }) => control.webhooks.configure(body)],
  [
    'GET',
    '/log',
    (control, { query }) =>
      control.log.list({ limit: integerIn(query, 'limit', 100), after: integerIn(query, 'after', 0) }),
  ],
  ['DELETE', '/log', (control) => control.log.clear()],
  ['GET', '/clock', (control) => ({ now: control.clock.now() })],
  [
    'POST',
    '/clock/advance',
    async (control, { body }) => ({ now: await control.clock.advance(advanceShape(body, '').ms) }),
  ],
  ['POST', '/settled', (control) => control.idle()],
  ['POST', '/reset', (control, { body }) => control.reset(resetShape(body, '').dataset)],
  ...actionRows(),
]

const maxBodyBytes = 150 * 1024 * 1024

export function controlRoutes(server: FastifyInstance, control: Control): void {
  for (const [method, path, run] of rows)
    server.route({
      method,
      url: `/control${path}`,
      bodyLimit: maxBodyBytes,
      handler: (request, reply) => handle(control, run, request, reply),
    })
  server.get('/control/events', (request, reply) =>
    handle(control, () => streamEvents(control, request, reply), request, reply),
  )
  server.get('/control/media/:id', (request, reply) =>
    handle(control, (_control, { id }) => sendMedia(control, id, request, reply), request, reply),
  )
}

/** All paths of the control API, for the test that checks the manual. The actions of phones and of numbers are one line each there. */
export function controlPaths(): string[] {
  const paths = rows.map(([method, path]) => `${method} /control${path.replace(':id', '{id}')}`)
  return [
    ...paths.filter((path) => !/^POST \/control\/(phones|numbers)\//.test(path)),
    'POST /control/numbers/{id}/{action}',
    'POST /control/phones/{id}/{action}',
    'GET /control/events',
    'GET /control/media/{id}',
  ]
}

function actionRows(): Row[] {
  return [
    ...(Object.keys(phoneActions) as (keyof typeof phoneActions)[]).map(
      (name): Row => ['POST', `/phones/:id/${name}`, (control, { id, body }) => control.phones[name](id, body)],
    ),
    ...(Object.keys(businessActions) as (keyof typeof businessActions)[]).map(
      (name): Row => ['POST', `/numbers/:id/${name}`, (control, { id, body }) => control.numbers[name](id, body)],
    ),
  ]
}

async function handle(control: Control, run: Row[2], request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  try {
    const { id = '' } = request.params as { id?: string }
    const query = request.query as Record<string, string>
    const result = await run(control, { id, query, body: bodyOf(request) as never })
    return reply.sent ? reply : reply.send(result ?? { done: true })
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    return reply.code(error.status).send({ error: { message: error.message, field: error.field } })
  }
}

function bodyOf(request: FastifyRequest): Json {
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) return {}
  let value: unknown
  try {
    value = JSON.parse(request.body.toString('utf8'))
  } catch {
    throw new ControlError('The body is not valid JSON.')
  }
  return isObject(value) ? value : invalid('The body', 'a JSON object')
}

const advanceShape = object({ ms: number({ min: 0 }) })

const resetShape = object({
  dataset: optional((value: unknown, field: string): DatasetName | Dataset =>
    typeof value === 'string' ? oneOf('demo', 'empty')(value, field) : datasetShape(value, field),
  ),
})

function integerIn(query: Record<string, string>, name: string, defaultValue: number): number {
  return query[name] === undefined
    ? defaultValue
    : number({ min: 0, max: 1_000_000, integer: true })(Number(query[name]), name)
}
