import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type DatabaseProxy, openDatabaseProxy } from '../../../../server/testing/open-database-proxy.ts'
import { type ServiceProcess, spawnService, urlOf } from '../../../../server/testing/service.ts'
import type { Postgres } from '../postgres.ts'
import { localEndpoints } from '../shop.ts'

export interface Member {
  role: 'all' | 'api' | 'worker'
  service: ServiceProcess
  /** Some processes reach PostgreSQL through a proxy that can cut or silence their connections. */
  proxy: DatabaseProxy | null
  /** /readyz returned 200 at the last check. */
  isReady: boolean
  /** A fault happens to it, or it is being replaced. */
  isStruck: boolean
}

/** Processes on one PostgreSQL, and a load balancer that asks /readyz once a second. */
export interface Fleet {
  members: Member[]
  /** The address of the load balancer. */
  url: string
  /** The URL of a process that is ready and serves requests, each in turn. */
  next(): string
  replace(member: Member): Promise<void>
  /** The last log lines of all processes, also those that are gone, that contain a text. */
  logLines(text: string, count: number): string[]
  close(): void
}

const roles = ['all', 'api', 'worker', 'all', 'api', 'worker', 'all', 'api', 'worker', 'all'] as const
/** One of each role. */
const proxied = (index: number): boolean => index < 3
const env = { ...localEndpoints, PARLEY_DATABASE_POOL: '8', LOG_LEVEL: 'info' }

/** How long the load balancer waits for a response. The network waits a little longer. */
const responseMs = 8_000

export async function openFleet(postgres: Postgres, say: (line: string) => void): Promise<Fleet> {
  const gone: ServiceProcess[] = []
  const spawn = (role: Member['role'], proxy: DatabaseProxy | null) =>
    spawnService(postgres.connection, {
      ...env,
      PARLEY_ROLE: role,
      ...(proxy && { DATABASE_URL: urlOf(proxy.connection) }),
    })
  const members: Member[] = []
  for (const [index, role] of roles.entries()) {
    const proxy = proxied(index) ? await openDatabaseProxy(postgres.connection) : null
    members.push({ role, proxy, service: await spawn(role, proxy), isReady: true, isStruck: false })
    if (index % 3 === 0) say(`${index + 1} of ${roles.length} processes are ready`)
  }
  let turn = 0
  const next = () => {
    const serving = members.filter(({ role, isReady }) => isReady && role !== 'worker')
    const all = serving.length > 0 ? serving : members
    return (all[turn++ % all.length] as Member).service.url
  }
  const checks = setInterval(() => {
    for (const member of members) void check(member)
  }, 1_000)
  const balancer = await openBalancer(next)
  return {
    members,
    url: balancer.url,
    next,
    async replace(member) {
      gone.push(member.service)
      member.isReady = false
      // PostgreSQL may be frozen or crash while it starts. It would be started again then.
      for (let tries = 1; ; tries++) {
        try {
          member.service = await spawn(member.role, member.proxy)
          return
        } catch (error) {
          if (tries === 3) throw error
        }
      }
    },
    logLines: (text, count) =>
      [...gone, ...members.map(({ service }) => service)]
        .flatMap((service) => service.output().split('\n'))
        .filter((line) => line.includes(text))
        .sort()
        .slice(-count),
    close() {
      clearInterval(checks)
      balancer.close()
      for (const { service, proxy } of members) {
        service.child.kill('SIGKILL')
        proxy?.close()
      }
    },
  }
}

async function check(member: Member): Promise<void> {
  const { service } = member
  const response = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(1_500) }).catch(() => null)
  await response?.arrayBuffer().catch(() => {})
  if (member.service === service) member.isReady = response?.status === 200
}

async function openBalancer(next: () => string): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const signature = request.headers['x-hub-signature-256']
      const forwarded = await fetch(next() + request.url, {
        method: request.method ?? 'GET',
        headers: {
          'content-type': 'application/json',
          ...(typeof signature === 'string' && { 'x-hub-signature-256': signature }),
        },
        ...(request.method === 'POST' && { body: Buffer.concat(chunks) }),
        signal: AbortSignal.timeout(responseMs),
      })
      response.writeHead(forwarded.status).end(Buffer.from(await forwarded.arrayBuffer()))
    } catch {
      response.writeHead(502).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
