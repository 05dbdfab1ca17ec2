import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { bundleOf } from '../../scripts/prepare.mjs'
import { childEnv } from '../../server/testing/child-env.ts'
import { agentOf } from '../../server/testing/mcp-client.ts'
import { spawnParley } from '../../server/testing/parley.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { until } from '../../server/testing/until.ts'
import { newWorkspace } from '../../server/testing/workspace.ts'
import { runParley, startCommand } from '../testing/run-parley.ts'

/** `parley mcp`: the protocol over standard input and output. */
const server = useTestServer()
const main = bundleOf(join(import.meta.dirname, '..', '..'))

const envOf = (key: string, url = server.url): Record<string, string> => ({
  ...(childEnv as Record<string, string>),
  PARLEY_SIMULATOR_PORT: '0',
  PARLEY_API_KEY: key,
  PARLEY_URL: url,
})

/** Starts it without a client of the protocol. */
function start(env: Record<string, string>, ...options: string[]) {
  const running = startCommand(['mcp', ...options], env)
  return {
    ...running,
    type: (...lines: string[]) => running.type(lines.map((line) => `${line}\n`).join('')),
    lines: () =>
      running
        .out()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    exitCode: async () => (await running.ended).code,
  }
}

test('an agent that starts it as a program lists and calls the tools of the key', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ scopes: ['senders:read', 'messages:send'] })
  const client = new Client({ name: 'local agent', version: '1' })
  const transport = new StdioClientTransport({ command: process.execPath, args: [main, 'mcp'], env: envOf(secret) })
  await client.connect(transport)
  onTestFinished(() => client.close())
  const agent = agentOf(client)
  expect(await agent.tools()).toEqual(['list_senders', 'send_message'])
  expect((await agent.call('list_senders')).value).toMatchObject({ object: 'list', data: [] })
  expect(await agent.call('send_message', { type: 'text' })).toMatchObject({
    isError: true,
    value: { error: { code: 'validation_failed' } },
  })
  await expect(agent.call('get_message', { id: 'x' })).rejects.toMatchObject({
    code: -32_000,
    message: expect.stringContaining("This key lacks the scope 'messages:read'."),
    data: { code: 'insufficient_scope' },
  })
})

test('standard output has only the protocol, also for lines that are no message', async () => {
  const { secret } = await newWorkspace(server)
  const mcp = start(envOf(secret))
  mcp.type('{"jsonrpc":', '', '[1]', '{"jsonrpc":"2.0","method":"notifications/initialized"}')
  mcp.type('{"jsonrpc":"2.0","id":"a","method":"ping"}')
  await until('the responses are printed', () => mcp.lines().length === 3)
  expect(mcp.lines()).toEqual(
    expect.arrayContaining([
      { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Invalid JSON.' } },
      { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Send one JSON-RPC message in each line.' } },
      { jsonrpc: '2.0', id: 'a', result: {} },
    ]),
  )
  mcp.endInput()
  expect(await mcp.exitCode()).toBe(0)
  expect(mcp.err()).toBe('')
})

test('an invalid key and a service that is down are errors of the protocol', async () => {
  const refused = start(envOf('prl_live_wrong'))
  refused.type('{"jsonrpc":"2.0","id":1,"method":"ping"}')
  await until('the error is printed', () => refused.lines().length === 1)
  expect(refused.lines()).toMatchObject([{ id: 1, error: { code: -32_000, data: { code: 'invalid_key' } } }])
  const down = start(envOf('prl_live_wrong', 'http://127.0.0.1:9'))
  down.type('{"jsonrpc":"2.0","id":2,"method":"ping"}')
  await until('the error is printed', () => down.lines().length === 1)
  expect(down.lines()).toMatchObject([
    { id: 2, error: { message: expect.stringMatching(/^The service at http:\/\/127\.0\.0\.1:9 cannot be reached/) } },
  ])
  down.kill('SIGTERM')
  expect(await down.exitCode()).toBe(0)
})

test('a cancelled call ends, and so does a waiting call when the program is stopped', async () => {
  const { secret } = await newWorkspace(server)
  const mcp = start(envOf(secret))
  const wait = (id: number) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'read_events', arguments: { after: 'latest', wait: 25 } },
    })
  const held = async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^parley_http_requests_held (\d+)/m.exec(metrics)?.[1])
  }
  mcp.type(wait(1), wait(2))
  await until('both wait', async () => (await held()) === 2)
  mcp.type('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
  await until('one waits', async () => (await held()) === 1)
  mcp.kill('SIGTERM')
  expect(await mcp.exitCode()).toBe(0)
  expect([mcp.out(), mcp.err()]).toEqual(['', ''])
})

test.each([
  [[], { PARLEY_API_KEY: '' }, 'Missing --key.'],
  [['--url', 'ftp://x'], {}, 'Invalid --url "ftp://x".'],
  [['--url', 'https://x/?a=1'], {}, 'Invalid --url "https://x/?a=1".'],
  // The error of the request would contain the key, and the agent would read it.
  [[], { PARLEY_API_KEY: 'prl_live_secret\nx' }, 'Invalid --key or PARLEY_API_KEY: key contains a space'],
  [[], { PARLEY_API_KEY: 'prl_live_secretñ' }, 'Invalid --key or PARLEY_API_KEY: key contains a space'],
])('parley mcp %j ends with an error on standard error', async (options, env, message) => {
  const mcp = start({ ...envOf('prl_live_x'), ...env }, ...options)
  expect(await mcp.exitCode()).toBe(1)
  expect(mcp.err()).toContain(message)
  expect(mcp.err()).not.toContain('secret')
  expect(mcp.out()).toBe('')
})

/** Another service than ours, which keeps the URLs of its requests. */
async function serveOther(listener: RequestListener) {
  const urls: string[] = []
  const other = createServer((request, response) => {
    urls.push(`${request.method} ${request.url}`)
    listener(request, response)
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  return { url: `http://127.0.0.1:${(other.address() as AddressInfo).port}`, urls }
}

test('without a key and a URL, it uses the login, whose key goes to its own service only', async () => {
  const { secret } = await newWorkspace(server)
  const env = { ...envOf(''), PARLEY_URL: '', HOME: tempFolder() }
  await runParley(['login', '--url', server.url, '--key', secret], env)
  const mcp = start(env)
  mcp.type('{"jsonrpc":"2.0","id":1,"method":"ping"}')
  await until('the response is printed', () => mcp.lines().length === 1)
  expect(mcp.lines()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  mcp.endInput()
  expect(await mcp.exitCode()).toBe(0)
  const other = start(env, '--url', 'https://other.example')
  expect(await other.exitCode()).toBe(1)
  expect(other.err()).toContain('Missing --key.')
})

test('a service below a path of its host is called there', async () => {
  const { url, urls } = await serveOther((_request, response) => response.end('{"jsonrpc":"2.0","id":1,"result":{}}'))
  for (const path of ['/parley/', '/parley/mcp']) {
    const mcp = start(envOf('prl_live_x', url + path))
    mcp.type('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    await until('the response is printed', () => mcp.lines().length === 1)
    mcp.endInput()
    expect(await mcp.exitCode()).toBe(0)
  }
  expect(urls).toEqual(['POST /parley/mcp', 'POST /parley/mcp'])
})

test('a redirect and a page of a proxy are explained', async () => {
  const { url, urls } = await serveOther(({ url: path }, response) =>
    path === '/moved/mcp'
      ? response.writeHead(301, { location: 'https://parley.example.com/mcp' }).end()
      : response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
  )
  const errorAt = async (path: string) => {
    const mcp = start(envOf('prl_live_x', url + path))
    mcp.type('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    await until('the error is printed', () => mcp.lines().length === 1)
    const [response] = mcp.lines() as { error: { message: string } }[]
    return response?.error.message
  }
  expect(await errorAt('/moved')).toBe(
    'The service returned 301 and redirects to https://parley.example.com/mcp. Use that address as --url.',
  )
  expect(await errorAt('/')).toBe('The service returned 502, which is not a response of Parley. Check --url.')
  expect(urls).toEqual(['POST /moved/mcp', 'POST /mcp'])
})

test('it ends without an error if the agent closes its output', async () => {
  const { secret } = await newWorkspace(server)
  const mcp = spawnParley(['mcp'], envOf(secret), 'pipe')
  mcp.child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await until('the response is printed', () => mcp.out().endsWith('\n'))
  mcp.child.stdout?.destroy()
  mcp.child.stdin?.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
  expect(await mcp.ended).toMatchObject({ code: 0, err: '' })
})
