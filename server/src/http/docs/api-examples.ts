/** Requests of the API reference in curl, TypeScript and Python. A test sends them and compares what arrives. */
export interface ExampleRequest {
  method: string
  /** `/v1/messages/{id}` */
  route: string
  /** With examples in place of its parameters. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: unknown
  isFile: boolean
  isDownload: boolean
  isPublic: boolean
}

/** Tabs in Markdown. The SDKs have no method for the OpenAPI document. */
export function requestTabs(request: ExampleRequest, publicUrl: string): string {
  const [typescript, python] = sdkCalls(request) ?? []
  const tabs = [['sh tab=curl', curl(request, publicUrl)]]
  if (typescript && python) tabs.push(['ts tab=TypeScript', typescript], ['python tab=Python', python])
  return tabs.map(([language, code]) => `\`\`\`${language}\n${code}\n\`\`\``).join('\n\n')
}

/** The client that the examples use. */
export const clientTabs = (publicUrl: string): string => `\`\`\`sh tab=curl
export PARLEY_API_KEY='prl_live_…'
curl ${publicUrl}/v1/me -H "Authorization: Bearer $PARLEY_API_KEY"
\`\`\`

\`\`\`ts tab=TypeScript
import { Parley } from '@parley/sdk'

const parley = new Parley({ baseUrl: '${publicUrl}', key: process.env.PARLEY_API_KEY! })
\`\`\`

\`\`\`python tab=Python
import os
from parley import Parley

parley = Parley(base_url="${publicUrl}", key=os.environ["PARLEY_API_KEY"])
\`\`\``

function curl(
  { method, path, headers, body, isFile, isDownload, isPublic }: ExampleRequest,
  publicUrl: string,
): string {
  const flags = method === 'POST' && body === undefined ? ' -X POST' : isDownload ? ' -OJ' : ''
  const lines = [`curl${flags} ${publicUrl}${path}`]
  if (!isPublic) lines.push('-H "Authorization: Bearer $PARLEY_API_KEY"')
  if (isFile) lines.push('-F "file=@invoice.pdf;type=application/pdf"')
  else if (body !== undefined) lines.push('-H "Content-Type: application/json"')
  for (const [name, value] of Object.entries(headers)) lines.push(`-H "${name}: ${value}"`)
  if (body !== undefined && !isFile) lines.push(`-d '${json(body).replaceAll("'", "'\\''")}'`)
  return lines.join(' \\\n  ')
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)

/** Literals as people write them: TypeScript needs no quotes for names, and Python has other words for three values. */
const inTypeScript = (value: unknown): string =>
  json(value)
    .replaceAll(/^( *)"(\w+)":/gm, '$1$2:')
    .replaceAll(/"([^"'\\\n]*)"/g, "'$1'")
const pythonWords: Record<string, string> = { true: 'True', false: 'False', null: 'None' }
const inPython = (value: unknown): string =>
  JSON.stringify(value, null, 4).replaceAll(
    /(?<=^ *(?:"[^"]*": )?)(?:true|false|null)(?=,?$)/gm,
    (word) => pythonWords[word] ?? word,
  )

/** The same request with the SDKs: TypeScript, Python. Null for a route that they do not have. */
function sdkCalls({ method, route, path, body }: ExampleRequest): readonly [string, string] | null {
  const [, , , id = '', , index = ''] = path.split('/')
  switch (`${method} ${route}`) {
    case 'GET /v1/me':
      return ['const me = await parley.me()', 'me = parley.me()']
    case 'POST /v1/messages':
      return [
        `const message = await parley.messages.send(${inTypeScript(body)})`,
        `message = parley.messages.send(${inPython(body)})`,
      ]
    case 'POST /v1/messages/batch': {
      const { messages } = body as { messages: unknown }
      return [
        `const results = await parley.messages.sendBatch(${inTypeScript(messages)})`,
        `results = parley.messages.send_batch(${inPython(messages)})`,
      ]
    }
    case 'POST /v1/inbound_messages/{id}/read':
      return [
        `await parley.inboundMessages.markAsRead('${id}', { typing: true })`,
        `parley.inbound_messages.mark_as_read("${id}", typing=True)`,
      ]
    case 'GET /v1/inbound_messages/{id}/media':
      return download(`media.ofMessage('${id}')`, `media.of_message("${id}")`)
    case 'GET /v1/flow_responses/{id}/files/{index}':
      return download(`flowResponses.file('${id}', ${index})`, `flow_responses.file("${id}", ${index})`)
    case 'POST /v1/media':
      return [
        `import { openAsBlob } from 'node:fs'

const file = await openAsBlob('invoice.pdf', { type: 'application/pdf' })
const media = await parley.media.upload(file, { filename: 'invoice.pdf' })`,
        `with open("invoice.pdf", "rb") as file:
    media = parley.media.upload(file, filename="invoice.pdf", mime_type="application/pdf")`,
      ]
    case 'GET /v1/webhook':
      return listCalls('webhooks')
    case 'GET /v1/events':
      return ['const { data, next_cursor } = await parley.events.read()', 'page = parley.events.read()']
  }
  const [, noun = '', isOne] =
    /^\/v1\/(senders|templates|messages|inbound_messages|flow_responses)(\/\{id\})?$/.exec(route) ?? []
  if (noun === '') return null
  if (!isOne) return listCalls(noun)
  const name = singular(noun)
  return [`const ${name} = await parley.${camelCase(noun)}.get('${id}')`, `${name} = parley.${noun}.get("${id}")`]
}

const listCalls = (noun: string): readonly [string, string] => {
  const name = singular(noun)
  const field = noun === 'inbound_messages' ? 'message_id' : 'id'
  return [
    `for await (const ${name} of parley.${camelCase(noun)}.list()) {\n  console.log(${name}.${field})\n}`,
    `for ${name} in parley.${noun}.list():\n    print(${name}["${field}"])`,
  ]
}

const download = (typescript: string, python: string): readonly [string, string] => [
  `const file = await parley.${typescript}\nconst bytes = await file.bytes()`,
  `with parley.${python} as file:\n    content = file.read()`,
]

const singular = (noun: string): string => (noun.split('_').at(-1) ?? '').replace(/s$/, '')
const camelCase = (noun: string): string => noun.replace(/_(\w)/, (_, letter: string) => letter.toUpperCase())
