import { parseExactly } from '@parley/contract/exact-json'
import { type TObject, type TSchema, Type } from 'typebox'
import { plainSchema } from '../../lib/field-errors.ts'
import { type CompiledRoute, compileRoute } from '../compiled-route.ts'
import type { Context, Route } from '../route.ts'
import { type Check, checkFor } from '../validate.ts'
import type { ToolRow } from './tools.ts'
import { markUntrusted, untrustedFields } from './untrusted.ts'

export interface Tool extends ToolRow {
  scope: Route['scope']
  isReadOnly: boolean
  inputSchema: { type: 'object'; [key: string]: unknown }
  /** Does what a request to the route would do. Throws a `Refusal` if that would be an error. */
  run(context: Context, input: Record<string, unknown>): Promise<ToolResult>
}

export interface ToolResult {
  value: object
  /** An earlier call with the same idempotency key sent the message. */
  isReplayed: boolean
}

type Input = Parameters<CompiledRoute['handle']>[1]

const IdempotencyKey = Type.Object({
  idempotency_key: Type.String({
    pattern: '^[!-~]{1,255}$',
    description:
      'A unique key of your choice, of visible ASCII characters, such as a UUID. Calls with the same key and the same message send it once.',
    errorMessage: 'The idempotency key must have 1 to 255 visible ASCII characters.',
  }),
})

/** A tool and its route: the same checks, the same handler, the same result. */
export function newTool(row: ToolRow, routes: readonly Route[]): Tool {
  const route = routes.find(({ method, path }) => `${method} ${path}` === row.route)
  if (!route) throw new Error(`the tool ${row.name} has no route`)
  const compiled = compileRoute(route)
  const read = route.body ? readSend(compiled) : readQuery(compiled)
  const untrusted = row.own === 'all' ? [] : untrustedFields(route.reply, row.own)
  let inputSchema: Tool['inputSchema'] | undefined
  return {
    ...row,
    scope: route.scope,
    isReadOnly: route.method === 'GET',
    get inputSchema() {
      inputSchema ??= inputSchemaOf(route)
      return inputSchema
    },
    async run(context, given) {
      const { input, headers } = read(given)
      let isReplayed = false
      const inner: Context = {
        db: context.db,
        caller: context.caller,
        clock: context.clock,
        requestId: context.requestId,
        settings: context.settings,
        shared: (make) => context.shared(make),
        header: (name) => headers[name],
        setStatus: () => {},
        setHeader(name) {
          if (name === 'Idempotent-Replayed') isReplayed = true
        },
        traceparent: context.traceparent,
        traceMessage: (id) => context.traceMessage(id),
        requireScope: (scope) => context.requireScope(scope),
        hold: (ms, subscribe) => context.hold(ms, subscribe),
      }
      const reply = compiled.toJson(await compiled.handle(inner, input))
      // Numbers keep their digits.
      return { value: markUntrusted(parseExactly(reply) as object, untrusted), isReplayed }
    },
  }
}

type ReadInput = (given: Record<string, unknown>) => { input: Input; headers: Record<string, string> }

/** The input of a tool that reads is the path and query parameters of its route. */
const readQuery =
  ({ checks, path }: CompiledRoute): ReadInput =>
  (given) => {
    const query = { ...given }
    const params: Record<string, unknown> = {}
    for (const [, name = ''] of path.matchAll(/:([a-z_]+)/g)) {
      params[name] = query[name]
      delete query[name]
    }
    checks.query(query)
    checks.params?.(params)
    // The checks guarantee the types that the route declares.
    return { input: { params, query, body: undefined } as unknown as Input, headers: {} }
  }

/** The input of `send_message` is the body and the `Idempotency-Key` of its route. */
function readSend({ checks }: CompiledRoute): ReadInput {
  const checkKey: Check = checkFor('body', IdempotencyKey)
  return (given) => {
    checkKey(given)
    const { idempotency_key: key, ...body } = given
    checks.query({})
    checks.body?.(body)
    return { input: { params: {}, query: {}, body } as unknown as Input, headers: { 'idempotency-key': String(key) } }
  }
}

function inputSchemaOf({ params, query, body }: Route): Tool['inputSchema'] {
  const parts = [params, query, body && IdempotencyKey, body].filter((part): part is TSchema => part !== undefined)
  // The routes of the tools take objects.
  const properties = Object.assign({}, ...parts.map((part) => (part as TObject).properties))
  const { description, examples } = (body ?? {}) as { description?: string; examples?: unknown }
  const schema = Type.Object(properties, { additionalProperties: false, ...(description && { description }) })
  return withoutMessages({ ...plainSchema(schema), ...(examples !== undefined && { examples: withKeys(examples) }) })
}

const withKeys = (examples: unknown): object[] =>
  (examples as object[]).map((example, index) => ({ idempotency_key: `example-${index + 1}`, ...example }))

/** `errorMessage` is for our own checks. */
const withoutMessages = (schema: object): Tool['inputSchema'] =>
  JSON.parse(JSON.stringify(schema, (key, value) => (key === 'errorMessage' ? undefined : value)))
