import { expect, test } from 'vitest'
import type { Db } from '../../../db/db.ts'
import { Routes } from './number-routes.ts'

/** A database that has every number, and answers when it is told to. */
function slowDatabase() {
  const answers: (() => void)[] = []
  const db = {
    rows: (_text: string, [appIds, numbers]: [string[], string[]]) =>
      new Promise((resolve) => {
        const rows = numbers.map((phoneNumberId, index) => ({
          appId: appIds[index],
          phoneNumberId,
          senderId: `sender of ${phoneNumberId}`,
          workspaceId: 'w',
        }))
        answers.push(() => resolve(rows))
      }),
  }
  return { db: db as unknown as Db, answer: () => answers.shift()?.() }
}

const address = (phoneNumberId: string) => ({ appId: 'a', phoneNumberId })

test('a number that was known stays known to whoever asks, though others come with another revision meanwhile', async () => {
  const { db, answer } = slowDatabase()
  const routes = new Routes(db)
  const first = routes.find([address('x')], 7)
  answer()
  expect(await first).toMatchObject([{ senderId: 'sender of x' }])
  for (const meanwhile of [[6], [6, 7]]) {
    const asked = routes.find([address('x'), address(`y${meanwhile.length}`)], 7)
    const others = meanwhile.map((revision) => routes.find([address('z')], revision))
    for (let count = 0; count <= meanwhile.length; count++) answer()
    expect(await asked).toMatchObject([{ senderId: 'sender of x' }, { senderId: `sender of y${meanwhile.length}` }])
    await Promise.all(others)
    const again = routes.find([address('x')], 7)
    answer()
    await again
  }
})
