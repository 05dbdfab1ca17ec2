import { parseJson } from './json.ts'

/** Passes messages of the Model Context Protocol on to the service, each as one request, and its responses back. */
export interface Forward {
  /** Resolves when the response to the message is written. Never rejects. */
  take(line: string): Promise<void>
  /** Ends the requests in progress. */
  stop(): void
}

export interface ForwardOptions {
  url: URL
  key: string
  write(line: string): void
}

type Id = string | number | null

interface Message {
  id?: Id
  method?: string
  params?: { requestId?: Id }
}

/** Codes of JSON-RPC: the line is not JSON, it is not one message, and an error of the server. */
const codes = { parse: -32_700, invalid: -32_600, server: -32_000 } as const

export function newForward({ url, key, write }: ForwardOptions): Forward {
  /** The requests in progress, by the ID of their message. Notifications have none. */
  const open = new Map<Id | symbol, AbortController>()
  /** The version of the protocol that the service chose. */
  let version: string | undefined

  const fail = (id: Id, code: number, message: string, data?: unknown) =>
    write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }))

  async function send(line: string, { id, method }: Message, signal: AbortSignal): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(version !== undefined && { 'mcp-protocol-version': version }),
      },
      body: line,
      // A followed redirect would become a GET.
      redirect: 'manual',
      signal,
    })
    const text = await response.text()
    if (id === undefined) return
    const reply = parseJson(text) as {
      jsonrpc?: string
      error?: { message?: string }
      result?: { protocolVersion?: string }
    }
    // An error of the request has the shape of /v1 instead.
    if (reply?.jsonrpc !== '2.0')
      return fail(id, codes.server, reply?.error?.message ?? unexpected(response), reply?.error)
    if (method === 'initialize') version = reply.result?.protocolVersion
    // As it is: numbers keep their digits. A JSON text has line breaks only between its parts.
    write(text.replaceAll(/[\r\n]+/g, ' '))
  }

  return {
    async take(line) {
      const message = parseJson(line) as Message | undefined
      if (message === undefined) return fail(null, codes.parse, 'Invalid JSON.')
      if (typeof message !== 'object' || message === null || Array.isArray(message)) {
        return fail(null, codes.invalid, 'Send one JSON-RPC message in each line.')
      }
      if (message.method === 'notifications/cancelled') open.get(message.params?.requestId ?? null)?.abort()
      const ending = new AbortController()
      const place = message.id ?? Symbol('notification')
      open.set(place, ending)
      try {
        await send(line, message, ending.signal)
      } catch (error) {
        if (ending.signal.aborted || message.id === undefined) return
        const { cause, message: text } = error as Error & { cause?: { code?: string } }
        fail(message.id, codes.server, `The service at ${url.origin} cannot be reached (${cause?.code ?? text}).`)
      } finally {
        open.delete(place)
      }
    },
    stop() {
      for (const each of open.values()) each.abort()
    },
  }
}

function unexpected({ status, headers }: Response): string {
  const location = headers.get('location')
  if (location) return `The service returned ${status} and redirects to ${location}. Use that address as --url.`
  return `The service returned ${status}, which is not a response of Parley. Check --url.`
}
