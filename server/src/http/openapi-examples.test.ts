import { type ErrorCode, errorCatalogue } from '@parley/contract/errors'
import { sendTypes } from '@parley/contract/send'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { describe as describeApi, routes } from '../api.ts'

interface Example {
  $ref?: string
  value?: unknown
}
interface Content {
  schema: object
  examples?: Record<string, Example>
}
interface Body {
  description?: string
  content?: Record<string, Content>
  headers?: Record<string, { schema: object; example?: unknown }>
}
interface Operation {
  operationId: string
  parameters: { name: string; schema: object; example?: unknown }[]
  requestBody?: Body
  responses: Record<string, Body>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
  components: { schemas: object; examples: Record<string, Example> }
}

const document = describeApi('https://parley.example.com', routes).document() as Document
const operations = [...Object.values(document.paths), ...Object.values(document.webhooks)]
  .flatMap((methods) => Object.values(methods))
  .map((operation) => [operation.operationId, operation] as const)

// openapi.test.ts checks that the schemas are valid.
const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
ajv.addSchema({ components: document.components }, 'api')
const validators = new Map<string, ValidateFunction>()

/** Why the value does not match the schema; null if it does. */
function faultOf(schema: object, value: unknown): string | null {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text) as object)
  validators.set(text, validate)
  return validate(value) ? null : ajv.errorsText(validate.errors)
}

const exampleValue = ({ $ref, value }: Example) =>
  $ref ? document.components.examples[$ref.replace('#/components/examples/', '')]?.value : value

test.each(operations)('every parameter, body and header of %s has a valid example', (_name, operation) => {
  for (const { name, schema, example } of operation.parameters) {
    expect([name, example]).not.toEqual([name, undefined])
    expect([name, faultOf(schema, example)]).toEqual([name, null])
  }
  const bodies = [...Object.entries(operation.responses), ['request', operation.requestBody ?? {}] as const]
  for (const [place, { content = {}, headers = {} }] of bodies) {
    for (const { schema, examples = {} } of Object.values(content)) {
      expect([place, Object.keys(examples).length]).not.toEqual([place, 0])
      for (const [name, example] of Object.entries(examples))
        expect([place, name, faultOf(schema, exampleValue(example))]).toEqual([place, name, null])
    }
    for (const [name, { schema, example }] of Object.entries(headers))
      expect([place, name, faultOf(schema, example)]).toEqual([place, name, null])
  }
})

test.each(operations)('every error of %s has an example with its code', (_name, { responses }) => {
  const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  for (const [status, { description = '', content = {} }] of errors) {
    const named = [...description.matchAll(/^`([a-z_]+)`: /gm)].map(([, code]) => code)
    const { examples = {} } = content['application/json'] ?? {}
    expect(Object.keys(examples).sort()).toEqual(named.sort())
    for (const [code, example] of Object.entries(examples)) {
      expect(exampleValue(example)).toMatchObject({ error: { code, type: errorCatalogue[code as ErrorCode].type } })
      expect(errorCatalogue[code as ErrorCode].status).toBe(Number(status))
    }
  }
})

test('POST /v1/messages has an example of each message type', () => {
  const { examples = {} } = document.paths['/v1/messages']?.post?.requestBody?.content?.['application/json'] ?? {}
  expect(Object.keys(examples)).toEqual(expect.arrayContaining([...sendTypes]))
})

test('invalid and missing examples are found', () => {
  expect(faultOf({ $ref: '#/components/schemas/Sender' }, { id: 'snd_1' })).toContain('must have required property')
  expect(faultOf({ type: 'string' }, undefined)).not.toBeNull()
})
