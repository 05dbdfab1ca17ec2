import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { childEnv } from '../../server/testing/child-env.ts'
import { agentOf } from '../../server/testing/mcp-client.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { until } from '../../server/testing/until.ts'
import { newWorkspace } from '../../server/testing/workspace.ts'

/** `parley mcp`: the protocol over standard input and output. */
const server = useTestServer()
const main = join(import.meta.dirname, 'main.ts')

const envOf = (key: string, url = server.url): Record<string, string> => ({
  ...(childEnv as Record<string, string>),
  PARLEY_SIMULATOR_PORT: '0',
  PARLEY_API_KEY: key,
  PARLEY_URL: url,
})

/** Starts it without a client of the protocol. */
function start(env: Record<string, string>, ...options: string[]) {
  const child: ChildProcess = spawn(process.execPath, [main, 'mcp', ...options], { env })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { out: '', err: '' }
  child.stdout?.on('data', (chunk) => {
    output.out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output.err += chunk
  })
  const exited = once(child, 'exit') as Promise<[number]>
  return {
    child,
    output,
    type: (...lines: string[]) => child.stdin?.write(lines.map((line) => `${line}\n`).join('')),
    lines: () =>
      output.out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    ended: async () => (await exited)[0],
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
  mcp.child.stdin?.end()
  expect(await mcp.ended()).toBe(0)
  expect(mcp.output.err).toBe('')
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
  down.child.kill('SIGTERM')
  expect(await down.ended()).toBe(0)
})

test('a call that the agent cancels ends, and so does one that waits when the program is stopped', async () => {
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
  mcp.child.kill('SIGTERM')
  expect(await mcp.ended()).toBe(0)
  expect(mcp.output).toEqual({ out: '', err: '' })
})

test.each([
  [[], { PARLEY_API_KEY: '' }, 'Missing --key.'],
  [['--url', 'ftp://x'], {}, 'Invalid --url "ftp://x".'],
])('parley mcp %j ends with an error on standard error', async (options, env, message) => {
  const mcp = start({ ...envOf('prl_live_x'), ...env }, ...options)
  expect(await mcp.ended()).toBe(1)
  expect(mcp.output.err).toContain(message)
  expect(mcp.output.out).toBe('')
})
