import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../../../testing/database.ts'
import { freezeUnderLoad } from '../../../../testing/freeze.ts'
import { openDatabase } from '../../../db/db.ts'

test('processes that were frozen until their leases ended repeat only what was in flight, and that once', async () => {
  const { connection, drop } = await newDatabase()
  const db = openDatabase(connection, () => {}, 3)
  onTestFinished(async () => {
    await db.close()
    await drop()
  })
  const outcome = await freezeUnderLoad(db, connection)
  expect(outcome).toMatchObject({ acknowledged: 100, lost: 0, otherRepeats: 0 })
  expect(outcome.inFlight).toBeLessThan(80)
  expect(outcome.inFlightRepeats).toBeLessThanOrEqual(outcome.inFlight)
}, 240_000)
