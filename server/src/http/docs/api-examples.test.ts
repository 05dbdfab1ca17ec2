import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { tempFolder } from '../../../testing/temp-folder.ts'
import { apiPages } from './catalogue.ts'
import { newReference, type OpenApi } from './reference.ts'

const root = join(import.meta.dirname, '../../../..')
const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8')) as OpenApi

/** Responds to each request with the example of its response, and notes what it got. */
const received: { line: string; body: unknown; key: string | undefined }[] = []
const server = createServer(async (request, response) => {
  const bytes = Buffer.concat(await request.toArray())
  const { method = '', url = '', headers } = request
  const isFile = /^multipart/.test(headers['content-type'] ?? '')
  const body = isFile ? /filename="([^"]+)"/.exec(bytes.toString())?.[1] : JSON.parse(bytes.toString() || 'null')
  received.push({ line: `${method} ${url}`, body, key: headers.authorization })
  const example = exampleOf(method, url)
  if (example === undefined) return response.writeHead(204).end()
  response.setHeader('content-type', 'application/json')
  response.end(typeof example === 'string' ? example : JSON.stringify({ ...(example as object), next_cursor: null }))
})
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  received.length = 0
})

function exampleOf(method: string, path: string): unknown {
  const [, methods = {}] =
    Object.entries(document.paths).find(([route]) =>
      new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    ) ?? []
  const [response] = Object.values(methods[method.toLowerCase()]?.responses ?? {})
  const [content] = Object.values(response?.content ?? {})
  return Object.values(content?.examples ?? {})[0]?.value
}

/** The examples of one language, in the order of the reference. */
function examplesIn(language: string): string[] {
  const reference = newReference(document, url)
  const pages = apiPages.map((page) => reference.page(page)).join('\n')
  return [...pages.matchAll(/^```\w+ tab=(\w+)\n([\s\S]*?)\n```$/gm)].flatMap(([, tab, code = '']) =>
    tab === language ? [code] : [],
  )
}

function newFolder(): string {
  const folder = tempFolder()
  writeFileSync(join(folder, 'invoice.pdf'), '%PDF-1.7')
  mkdirSync(join(folder, 'node_modules/@parley'), { recursive: true })
  symlinkSync(join(root, 'sdk/src'), join(folder, 'node_modules/@parley/sdk'))
  return folder
}

const env = { ...process.env, PARLEY_API_KEY: 'prl_live_example', PYTHONPATH: join(root, 'sdk/python/src') }
const run = (cwd: string, command: string, ...args: string[]) => promisify(execFile)(command, args, { cwd, env })

const isOpenApi = ({ line }: { line: string }) => line === 'GET /v1/openapi.json'

test('the examples in curl, TypeScript and Python send the same requests, one for each endpoint', async () => {
  const folder = newFolder()
  await run(folder, 'sh', '-ec', examplesIn('curl').join('\n'))
  const byCurl = received.splice(0)
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(byCurl.length).toBe(routes.length)
  expect(byCurl.filter((each) => !isOpenApi(each) && each.key !== 'Bearer prl_live_example')).toEqual([])

  const typescript = examplesIn('TypeScript')
  const imports = typescript.join('\n').match(/^import .*$/gm) ?? []
  const blocks = typescript.map((code) => `{\n${code.replaceAll(/^import .*$/gm, '')}\n}`)
  const client = `const parley = new Parley({ baseUrl: '${url}', key: process.env.PARLEY_API_KEY! })`
  const program = ["import { Parley } from '@parley/sdk'", ...imports, client, ...blocks].join('\n')
  writeFileSync(join(folder, 'examples.mts'), program)
  await run(folder, process.execPath, 'examples.mts')
  const expected = byCurl.filter((each) => !isOpenApi(each))
  expect(received.splice(0)).toEqual(expected)

  const hasPython = await run(folder, 'python3', '--version').then(
    () => true,
    () => false,
  )
  if (!hasPython) return
  const python = [
    'import os',
    'from parley import Parley',
    `parley = Parley(base_url="${url}", key=os.environ["PARLEY_API_KEY"])`,
  ]
  writeFileSync(join(folder, 'examples.py'), [...python, ...examplesIn('Python')].join('\n'))
  await run(folder, 'python3', 'examples.py')
  expect(received).toEqual(expected)
})
