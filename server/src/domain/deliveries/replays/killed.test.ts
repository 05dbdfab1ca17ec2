import { expect, test } from 'vitest'
import { newDatabase } from '../../../../testing/database.ts'
import { replayThroughKills } from '../../../../testing/killed-replay.ts'
import { openDatabase } from '../../../db/db.ts'

test('a replay continues after kill -9: every event arrives, at most those in flight twice, and all are counted once', async () => {
  const { connection, drop } = await newDatabase()
  const db = openDatabase(connection, () => {}, 3)
  try {
    const outcome = await replayThroughKills({ db, connection, events: 200, rate: 200, kills: 1, aloneMs: 500 })
    expect(outcome.replay).toMatchObject({ state: 'completed', total: 200, delivered: 200, failed: 0 })
    expect(outcome).toMatchObject({ missing: 0, wrong: 0 })
    expect(outcome.repeats).toBeLessThanOrEqual(outcome.inFlight)
    expect(outcome.inFlight).toBeLessThan(100)
  } finally {
    await db.close()
    await drop()
  }
}, 300_000)
