import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** `hang` never responds; the others are response codes. An array of addresses may be IPv4 and IPv6. */
export type NameResponse = readonly string[] | 'hang' | 'servfail' | 'refused' | 'not_found'

export interface NameServer {
  /** `address:port`, for PARLEY_DNS_SERVERS. */
  address: string
  /** Responses by name. */
  names: Map<string, NameResponse>
  /** The response to all other names. */
  unlisted: NameResponse
  /** If set, it is the response to every query. */
  everything: NameResponse | null
  /** Queries of this record type get no response. */
  hangsFor: keyof typeof recordTypes | null
  /** Seconds that a response may be cached. */
  ttl: number
  /** The names that were asked for, once for each address family and repetition. */
  asked: string[]
  close(): void
}

const responseCodes = { servfail: 2, not_found: 3, refused: 5 } as const
const recordTypes = { a: 1, aaaa: 28 } as const

/** A name server on loopback, over UDP. */
export async function startNameServer(names: Record<string, NameResponse> = {}): Promise<NameServer> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const server: NameServer = {
    address: `127.0.0.1:${socket.address().port}`,
    names: new Map(Object.entries(names)),
    unlisted: 'not_found',
    everything: null,
    hangsFor: null,
    ttl: 0,
    asked: [],
    close: () => socket.close(),
  }
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    server.asked.push(name)
    const given = server.everything ?? server.names.get(name) ?? server.unlisted
    if (given === 'hang' || (server.hangsFor && type === recordTypes[server.hangsFor])) return
    const code = typeof given === 'string' ? responseCodes[given] : 0
    const addresses = typeof given === 'string' ? [] : given.filter((each) => typeOf(each) === type)
    const head = Buffer.from(query.subarray(0, end))
    head.writeUInt16BE(0x8180 + code, 2)
    head.writeUInt16BE(addresses.length, 6)
    head.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([head, ...addresses.map((each) => recordOf(each, server.ttl))]), port, address)
  })
  return server
}

const typeOf = (address: string): number => (address.includes(':') ? recordTypes.aaaa : recordTypes.a)

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** A record for the name in the question, which is at byte 12. */
function recordOf(address: string, ttl: number): Buffer {
  const data = address.includes(':') ? v6Bytes(address) : Buffer.from(address.split('.').map(Number))
  const head = Buffer.from([0xc0, 12, 0, typeOf(address), 0, 1, 0, 0, 0, 0, 0, data.length])
  head.writeUInt32BE(ttl, 6)
  return Buffer.concat([head, data])
}

function v6Bytes(address: string): Buffer {
  const [before = '', after = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [left, right] = [groups(before), groups(after)]
  const bytes = Buffer.alloc(16)
  for (const [index, group] of [...left, ...Array(8 - left.length - right.length).fill(0), ...right].entries()) {
    bytes.writeUInt16BE(group, index * 2)
  }
  return bytes
}
