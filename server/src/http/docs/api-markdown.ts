/** The API as Markdown, from its OpenAPI document: for readers that have no browser. */
interface Schema {
  type?: string
  enum?: unknown[]
  description?: string
  examples?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  $ref?: string
}

interface Operation {
  tags?: string[]
  summary?: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

export function apiMarkdown({ paths, components }: OpenApi, publicUrl: string): string {
  const resolve = (schema: Schema | undefined): Schema =>
    schema?.$ref === undefined ? (schema ?? {}) : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => describe(method, path, operation, resolve)),
  )
  return `# API

The base URL is \`${publicUrl}\`. Send an API key with every request: \`Authorization: Bearer prl_live_…\`. Bodies and responses are JSON. The complete description is [the OpenAPI document](${publicUrl}/v1/openapi.json). Errors are described at [errors](/docs/errors.md).

${operations.join('\n')}`
}

function describe(method: string, path: string, operation: Operation, resolve: (schema?: Schema) => Schema): string {
  const { summary = '', description, parameters = [], requestBody, responses } = operation
  const parts = [`## ${method.toUpperCase()} ${path}`, `${summary}.`, description]
  if (parameters.length > 0) {
    parts.push(
      parameters
        .map(({ name, in: place, required, description: meaning = '' }) => {
          return `- \`${name}\` (${place}${required ? ', required' : ''}): ${meaning}`
        })
        .join('\n'),
    )
  }
  const body = resolve(Object.values(requestBody?.content ?? {})[0]?.schema)
  if (requestBody) parts.push('Body:', fieldsOf(body, resolve), ...examplesOf(body))
  const [status, response] = Object.entries(responses)[0] ?? []
  const reply = resolve(response?.content?.['application/json']?.schema)
  const item = resolve((reply.properties?.data as { items?: Schema } | undefined)?.items)
  if (status) parts.push(`Response: ${status}.`, ...examplesOf(reply.examples ? reply : item).slice(0, 1))
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

function fieldsOf({ properties = {}, required = [] }: Schema, resolve: (schema?: Schema) => Schema): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const { description = '' } = { ...resolve(schema), ...schema }
      return `- \`${name}\`${required.includes(name) ? ' (required)' : ''}${description && `: ${description}`}`
    })
    .join('\n')
}

const examplesOf = ({ examples = [] }: Schema): string[] =>
  examples.map((example) => `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``)
