import { expect, test } from 'vitest'
import type { Db } from '../../../db/db.ts'
import { Routes } from './number-routes.ts'

/** A database that has every number but those with a 0, and responds when it is told to, at the revision it is told. */
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

/** The routes after somebody asked for x and 0 at revision 7. */
async function knowing() {
  const { db, respond } = slowDatabase()
  const routes = new Routes(db)
  const first = routes.find([address('x'), address('0')], 7)
  await respond(7)
  expect(await first).toMatchObject({ revision: 7, destinations: [{ senderId: 'sender of x' }, null] })
  return { routes, respond }
}

test('a number that is known, or known not to be ours, is not asked for again at its revision', async () => {
  const { routes } = await knowing()
  expect(await routes.find([address('x'), address('0')], 7)).toMatchObject({ revision: 7 })
  expect([7, 8].map((revision) => routes.isUnknown(address('0'), revision))).toEqual([true, false])
  expect(routes.isUnknown(address('x'), 7)).toBe(false)
})

test.each([7, 8])('a number stays known to whoever asks while the revision moves on (answered at %i)', async (at) => {
  const { routes, respond } = await knowing()
  const asked = routes.find([address('x'), address('y')], 7)
  const other = routes.find([address('z')], 8)
  await respond(at)
  await respond(8)
  await respond(8)
  expect(await asked).toMatchObject({
    revision: at,
    destinations: [{ senderId: 'sender of x' }, { senderId: 'sender of y' }],
  })
  expect(await other).toMatchObject({ revision: 8, destinations: [{ senderId: 'sender of z' }] })
})
