import { expect, test } from 'vitest'
import type { Db } from '../../../db/db.ts'
import { NumberRoutes } from './number-routes.ts'

/** A database that knows every number without a 0. `respond` returns the result of the oldest query, at a revision. */
function slowDatabase() {
  const responses: ((revision: number) => void)[] = []
  const db = {
    rows: (_text: string, [appIds, numbers]: [string[], string[]]) =>
      new Promise((resolve) => {
        const rows = numbers.flatMap((phoneNumberId, index) => {
          const senderId = `sender of ${phoneNumberId}`
          return phoneNumberId.includes('0')
            ? []
            : [{ appId: appIds[index], phoneNumberId, senderId, workspaceId: 'w' }]
        })
        const none = { appId: null, phoneNumberId: null, senderId: null, workspaceId: null }
        responses.push((revision) => resolve((rows.length === 0 ? [none] : rows).map((row) => ({ ...row, revision }))))
      }),
  }
  return {
    db: db as unknown as Db,
    async respond(revision: number) {
      responses.shift()?.(revision)
      await new Promise(setImmediate)
    },
  }
}

const address = (phoneNumberId: string) => ({ appId: 'a', phoneNumberId })

/** Routes that have cached the numbers x and 0 at revision 7. */
async function cachedRoutes() {
  const { db, respond } = slowDatabase()
  const routes = new NumberRoutes(db)
  const first = routes.find([address('x'), address('0')], 7)
  await respond(7)
  expect(await first).toMatchObject({ revision: 7, destinations: [{ senderId: 'sender of x' }, null] })
  return { routes, respond }
}

test('a known or unknown number is not read again at its revision', async () => {
  const { routes } = await cachedRoutes()
  expect(await routes.find([address('x'), address('0')], 7)).toMatchObject({ revision: 7 })
  expect([7, 8].map((revision) => routes.isUnknown(address('0'), revision))).toEqual([true, false])
  expect(routes.isUnknown(address('x'), 7)).toBe(false)
})

test.each([7, 8])(
  'a lookup succeeds while another one moves the cache to a new revision (response at %i)',
  async (at) => {
    const { routes, respond } = await cachedRoutes()
    const lookup = routes.find([address('x'), address('y')], 7)
    const other = routes.find([address('z')], 8)
    await respond(at)
    await respond(8)
    await respond(8)
    expect(await lookup).toMatchObject({
      revision: at,
      destinations: [{ senderId: 'sender of x' }, { senderId: 'sender of y' }],
    })
    expect(await other).toMatchObject({ revision: 8, destinations: [{ senderId: 'sender of z' }] })
  },
)
