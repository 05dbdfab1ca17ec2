import { tmpdir } from 'node:os'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type pg from 'pg'
import { expect } from 'vitest'
// Comes with @redocly/cli.
import { parse } from 'yaml'
import type { DocsBlock } from '../../scripts/docs-blocks.ts'
import { splitStatements } from '../../server/src/db/migrate/split-statements.ts'
import { agentOf, newAgent } from '../../server/testing/mcp-client.ts'
import { root } from '../reader.ts'

/** What blocks need that no shell runs. */
export interface OtherBlocks {
  url: string
  key: string
  senderId: string
  /** The service's database, as PostgreSQL's superuser. */
  database: pg.Client
}

type Json = Record<string, unknown>

/** Runs a block in JSON, SQL or YAML. */
export async function runOther(
  { language, text }: DocsBlock,
  fill: (text: string) => string,
  given: OtherBlocks,
): Promise<string> {
  if (language === 'json') await useJson(JSON.parse(fill(text)), given)
  else if (language === 'sql') await runSql(text, given.database)
  else if (language === 'yaml') await readYaml(text, given)
  else throw new Error(`Blocks in ${language} are not run. Mark it as an example, or see e2e/docs/page.ts.`)
  return ''
}

/** JSON is a message to send, or the settings of an agent. */
async function useJson(body: Json, { url, key, senderId }: OtherBlocks): Promise<void> {
  if ('mcpServers' in body) return useAgent(body as unknown as AgentSettings)
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    // The documents leave the sender out, which is optional in a workspace with one sender. The demo has two.
    body: JSON.stringify('in_reply_to' in body ? body : { sender_id: senderId, ...body }),
  })
  expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 202 })
}

interface AgentSettings {
  mcpServers: {
    parley: {
      url?: string
      headers?: { Authorization: string }
      command?: string
      args?: string[]
      env?: Record<string, string>
    }
  }
}

async function useAgent({ mcpServers: { parley } }: AgentSettings): Promise<void> {
  const { url, headers, command = '', args = [], env = {} } = parley
  if (url) {
    const agent = await newAgent(url, headers?.Authorization.replace('Bearer ', '') ?? '')
    expect(await agent.tools()).toContain('list_senders')
    return
  }
  const client = new Client({ name: 'test agent', version: '1' })
  const all = { ...getDefaultEnvironment(), ...env }
  // An agent has a working directory of its own.
  const transport = { command: command.replace(/^\/opt\/parley(?=\/)/, root), args, cwd: tmpdir(), env: all }
  await client.connect(new StdioClientTransport({ ...transport, stderr: 'ignore' }))
  expect(await agentOf(client).tools()).toContain('list_senders')
  await client.close()
}

/** Runs statements with the names of another installation, because the database of the service exists already. */
async function runSql(text: string, database: pg.Client): Promise<void> {
  for (const statement of splitStatements(text)) {
    const other = statement.replace(/\bparley\b/g, 'parley_docs').replace(/\bparley_backup\b/g, 'parley_docs_backup')
    await database.query(other, statement.includes('$1') ? ['01a1dd7e-5b1c-7c55-9a1f-3f0b5f7a9d10'] : undefined)
  }
}

/** Settings of Prometheus: the service has every metric that they name. */
async function readYaml(text: string, { url }: OtherBlocks): Promise<void> {
  const settings = parse(text) as Json
  expect(Object.keys(settings)).toEqual([expect.stringMatching(/^(groups|scrape_configs)$/)])
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const missing = (text.match(/\bparley_\w+/g) ?? []).filter((name) => !metrics.includes(`# TYPE ${name} `))
  expect(missing).toEqual([])
}
