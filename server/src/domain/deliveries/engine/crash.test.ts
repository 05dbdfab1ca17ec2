import { expect, test } from 'vitest'
import { crashUnderLoad } from '../../../../testing/crash.ts'
import { newServiceDatabase } from '../../../../testing/database.ts'
import { openDatabase } from '../../../db/db.ts'

test('after kill -9 under load: every acknowledged message is delivered, at most those in flight twice', async () => {
  const { connection, drop } = await newServiceDatabase()
  const db = openDatabase(connection, () => {}, 3)
  try {
    const outcome = await crashUnderLoad({
      db,
      connection,
      rounds: 1,
      writers: 4,
      // Expires the leases, as if 30 seconds had passed.
      async wait() {
        await db.change(`update deliveries set due_at = now() where lease is not null`)
        await db.change('update endpoint_visits set visit_at = now()')
      },
    })
    // The round waits for 20 of them, so the rest cannot hold by chance.
    expect(outcome.acknowledged).toBeGreaterThanOrEqual(20)
    expect(outcome.lost).toBe(0)
    expect(outcome.repeats).toBeLessThanOrEqual(outcome.inFlight)
  } finally {
    await db.close()
    await drop()
  }
})
