import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newEmptyDatabase } from '../testing/database.ts'
import { checkOut, findPrevious, nextVersion } from '../testing/previous-version.ts'
import { exampleMigration, rollingUpgrade } from '../testing/rolling-upgrade.ts'
import { tempFolder } from '../testing/temp-folder.ts'

test('an upgrade from the last release, one process after the other, refuses and loses nothing', async ({ skip }) => {
  const previous = findPrevious()
  if ('missing' in previous) return skip(previous.missing)
  const folder = tempFolder()
  const { connection, drop } = await newEmptyDatabase()
  onTestFinished(drop)
  const outcome = await rollingUpgrade({
    connection,
    oldRoot: checkOut(previous.commit, join(folder, 'old')),
    newRoot: nextVersion(join(folder, 'new'), exampleMigration),
    partMs: 2_000,
    writers: 2,
  })
  expect(outcome).toMatchObject({
    refused: [],
    lostEvents: 0,
    notSent: 0,
    sentTwice: 0,
    wrongBalances: 0,
    errors: [],
  })
  expect(outcome.received).toBeGreaterThan(20)
  expect(outcome.accepted).toBeGreaterThan(20)
})
