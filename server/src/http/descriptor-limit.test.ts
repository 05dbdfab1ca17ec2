import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { platform } from 'node:os'
import { scopes } from '@parley/contract/scopes'
import { expect, onTestFinished, test } from 'vitest'
import { newServiceDatabase } from '../../testing/database.ts'
import { spawnService } from '../../testing/service.ts'
import { until } from '../../testing/until.ts'
import { openDatabase } from '../db/db.ts'
import { createKey } from '../domain/keys/keys.ts'
import { createWorkspace } from '../domain/workspaces/workspaces.ts'
import { systemClock } from '../lib/clock.ts'

const openFiles = 200

test.skipIf(platform() !== 'linux')(
  'more connections than file descriptors leave a reserve for the database, and the process recovers when they close',
  async () => {
    const { connection, drop } = await newServiceDatabase()
    const db = openDatabase(connection, () => {}, 4)
    const service = await spawnService(connection, { PARLEY_MAX_CONNECTIONS_PER_ADDRESS: '90' }, { openFiles })
    const sockets: Socket[] = []
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy()
      service.child.kill('SIGKILL')
      await once(service.child, 'exit')
      await db.close()
      await drop()
    })
    const { id: workspaceId } = await createWorkspace(db, systemClock, 'Shop')
    const key = await createKey(db, systemClock, {
      workspaceId,
      name: 'k',
      scopes,
      rateLimitPerMin: 100,
      createdBy: 'test',
    })
    const { port } = new URL(service.url)
    const authorized = `GET /v1/senders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.secret}\r\n\r\n`

    // Twice as many as there are descriptors.
    const attempts = Array.from({ length: 2 * openFiles }, (_, n) => {
      const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: `127.0.1.${n % 10}` })
      sockets.push(socket)
      return new Promise((resolve) => socket.on('error', resolve).once('connect', resolve))
    })
    await Promise.all(attempts)
    const pid = service.child.pid
    const descriptors = () => readdirSync(`/proc/${pid}/fd`).length
    const cpuTicks = () => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
      return Number(fields[11]) + Number(fields[12])
    }
    const isRefused = (socket: Socket) => socket.destroyed || socket.closed
    for (const socket of sockets) socket.resume()
    await until(
      'half of the descriptors are in use',
      () => sockets.filter((socket) => !isRefused(socket)).length <= 100,
    )
    expect(descriptors()).toBeLessThan(openFiles - 50)
    const accepted = sockets.find((socket) => !isRefused(socket))
    accepted?.write(authorized)
    const [response] = (await once(accepted as Socket, 'data')) as [Buffer]
    expect(response.toString('latin1')).toMatch(/^HTTP\/1.1 200/)

    const before = cpuTicks()
    await new Promise((resolve) => setTimeout(resolve, 2000))
    // In hundredths of a second. A loop that accepts and fails would use all of them.
    expect(cpuTicks() - before).toBeLessThan(150)

    for (const socket of sockets) socket.destroy()
    await until('the health check responds', async () => {
      const response = await fetch(`${service.url}/healthz`).catch(() => undefined)
      return response?.status === 200
    })
    expect(service.child.exitCode).toBe(null)
  },
  90_000,
)
