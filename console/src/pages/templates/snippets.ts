import type { Snippet } from '../../ui/code-block.tsx'

/** The send request as code in three languages. */
export function snippetsFor(url: string, request: object): Snippet[] {
  const json = JSON.stringify(request, null, 2)
  return [
    { title: 'curl', language: 'shell', code: curl(url, json) },
    { title: 'Node', language: 'js', code: node(url, json) },
    { title: 'Python', language: 'python', code: python(url, request) },
  ]
}

const curl = (url: string, json: string) => `curl ${url}/v1/messages \\
  -H "Authorization: Bearer $PARLEY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${json.replaceAll("'", `'\\''`)}'`

const node = (url: string, json: string) => `const response = await fetch('${url}/v1/messages', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.PARLEY_API_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${indent(json, 2)}),
})
console.log(response.status, await response.json())`

const python = (url: string, request: object) => `import os, requests

response = requests.post(
    "${url}/v1/messages",
    headers={"Authorization": f"Bearer {os.environ['PARLEY_API_KEY']}"},
    json=${indent(literal(request, 0), 4)},
)
print(response.status_code, response.json())`

const indent = (text: string, by: number) => text.replaceAll('\n', `\n${' '.repeat(by)}`)

/** A JSON value as a Python literal: null, true and false differ. */
function literal(value: unknown, depth: number): string {
  const pad = '    '.repeat(depth + 1)
  const end = '    '.repeat(depth)
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) {
    return value.length === 0 ? '[]' : `[\n${value.map((each) => pad + literal(each, depth + 1)).join(',\n')},\n${end}]`
  }
  if (typeof value === 'object') {
    const entries = Object.entries(value)
    if (entries.length === 0) return '{}'
    return `{\n${entries.map(([key, each]) => `${pad}${JSON.stringify(key)}: ${literal(each, depth + 1)}`).join(',\n')},\n${end}}`
  }
  return JSON.stringify(value)
}
