import { Type } from 'typebox'
import { type Route, route } from '../src/http/route.ts'

const Word = Type.Object(
  {
    word: Type.String({ maxLength: 20 }),
    count: Type.Optional(Type.Integer()),
    inner: Type.Optional(Type.Object({ flag: Type.Boolean() }, { additionalProperties: false })),
    any: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
)

const Echoed = Type.Object({ word: Type.String() })

/** Routes for tests of the pipeline: one takes a body, one takes an ID, one throws. */
export const echoRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/echo',
    scope: 'messages:send',
    summary: 'Echo',
    tag: 'Test',
    body: Word,
    reply: Echoed,
    status: 201,
    handle: (_context, { body }) => ({ word: body.word }),
  }),
  route({
    method: 'GET',
    path: '/v1/echo/:id',
    scope: 'messages:read',
    summary: 'Echo',
    tag: 'Test',
    params: Type.Object({ id: Type.String({ pattern: '^[a-z]{1,10}$' }) }),
    query: Type.Object(
      { times: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })) },
      { additionalProperties: false },
    ),
    reply: Echoed,
    handle: (_context, { params }) => ({ word: params.id }),
  }),
  route({
    method: 'GET',
    path: '/v1/broken',
    scope: 'none',
    summary: 'Breaks',
    tag: 'Test',
    reply: Echoed,
    handle: () => {
      throw new Error('select secret_sealed from webhooks failed at /srv/parley/server.ts:12')
    },
  }),
]
