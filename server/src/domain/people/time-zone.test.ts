import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'

const server = useTestServer()

const put = (timeZone: unknown) => ({ method: 'PUT', body: { time_zone: timeZone } })

test('a person chooses a time zone, which is theirs only, and goes back to the one of the browser', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId, role: 'member' })
  const other = await signedIn(server, { workspaceId, role: 'member' })
  const zoneOf = async (who: typeof person) => (await who.call('/session')).body.person.time_zone
  expect(await zoneOf(person)).toBeNull()
  const { status, body } = await person.call('/account/time-zone', put('Asia/Kolkata'))
  expect([status, body]).toEqual([200, { time_zone: expect.stringMatching(/^Asia\/(Kolkata|Calcutta)$/) }])
  expect(await zoneOf(person)).toBe(body.time_zone)
  expect(await zoneOf(other)).toBeNull()
  expect((await person.call('/account/time-zone', put(null))).body).toEqual({ time_zone: null })
  expect(await zoneOf(person)).toBeNull()
})

test.each(['Mars/Olympus_Mons', '', '+05:30', 'Europe/Berlin; drop table people', 3])(
  'the time zone %j is invalid',
  async (zone) => {
    const { id: workspaceId } = await newWorkspace(server)
    const person = await signedIn(server, { workspaceId, role: 'member' })
    const { status, body } = await person.call('/account/time-zone', put(zone))
    expect([status, body.error.param]).toEqual([400, 'time_zone'])
  },
)
