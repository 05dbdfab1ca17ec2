import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type CallToolResult, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'

/** An agent: a client of the Model Context Protocol with an API key. */
export interface McpAgent {
  client: Client
  tools(): Promise<string[]>
  call(name: string, input?: Record<string, unknown>): Promise<ToolResponse>
}

interface ToolResponse {
  value: Record<string, unknown>
  text: string
  isError: boolean
  meta: Record<string, unknown>
}

export async function newAgent(url: string, key: string): Promise<McpAgent> {
  const client = new Client({ name: 'test agent', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  // The class has optional members that are set to undefined, which the interface does not allow with our settings.
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return agentOf(client)
}

export const agentOf = (client: Client): McpAgent => ({
  client,
  tools: async () => (await client.listTools()).tools.map(({ name }) => name),
  async call(name, input = {}) {
    const result = (await client.callTool({ name, arguments: input }, CallToolResultSchema)) as CallToolResult
    const [content] = result.content
    return {
      value: result.structuredContent ?? {},
      text: content?.type === 'text' ? content.text : '',
      isError: result.isError === true,
      meta: result._meta ?? {},
    }
  },
})
