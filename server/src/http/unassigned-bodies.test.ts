import { afterAll, expect, test } from 'vitest'
import { echoRoutes } from '../../testing/echo.ts'
import { type RawConnection, rawConnection } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { newWorkspace } from '../../testing/workspace.ts'

const server = useTestServer({ moreRoutes: echoRoutes, trustProxy: ['127.0.0.1/32'] })
const opened: RawConnection[] = []
afterAll(() => {
  for (const { socket } of opened) socket.destroy()
})

/** Sends a body to a route that needs no session, all but the last byte. */
async function upload(address: string): Promise<void> {
  const connection = await rawConnection(server.url)
  opened.push(connection)
  const bodyBytes = 256 * 1024
  connection.send(
    `POST /console/api/sign-in HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nContent-Type: application/json\r\nX-Forwarded-For: ${address}\r\nContent-Length: ${bodyBytes}\r\n\r\n${' '.repeat(bodyBytes - 1)}`,
  )
}

test('strangers cannot use up the memory for the bodies of workspaces, from any number of addresses', async () => {
  const { secret: key } = await newWorkspace(server)
  for (let address = 1; address <= 5; address++) {
    for (let n = 0; n < 32; n++) await upload(`203.0.113.${address}`)
  }
  await until('a body is refused', () => server.db.telemetry.metrics.counts('overload').has('process_bodies'))
  const body = { word: 'small' }
  const response = await server.call('/v1/echo', { method: 'POST', key, body })
  expect([response.status, response.body]).toEqual([201, body])
})
