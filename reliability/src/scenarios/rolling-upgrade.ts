// Upgrades from this version to one with one more migration under load, one process after the other, and counts what was
// refused or lost. The old version runs on the new schema, and both versions run side by side.
import { join } from 'node:path'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { nextVersion } from '../../../server/testing/next-version.ts'
import { exampleMigration, rollingUpgrade } from '../../../server/testing/rolling-upgrade.ts'

export const scenario = {
  name: 'rolling-upgrade',
  wanted: 'no request refused, nothing lost, nothing sent twice, the ledger proven',
  async run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
    const folder = newFolder('parley-reliability-')
    const embedded = await openEmbedded({ dataDir: join(folder, 'data'), purpose: 'visitor' })
    try {
      const { refused, errors, ...counts } = await rollingUpgrade({
        connection: embedded.connection,
        newRoot: nextVersion(join(folder, 'new'), exampleMigration),
        partMs: 5_000,
        writers: 3,
        say,
      })
      for (const line of [...refused, ...errors].slice(0, 20)) say(line)
      const { requests, received, lostEvents, accepted, notSent, sentTwice, wrongBalances, longestMs } = counts
      const bad = refused.length + errors.length + lostEvents + notSent + sentTwice + wrongBalances
      const figure = `${requests} requests, ${refused.length} refused, the longest took ${longestMs} ms; ${received} webhooks, ${lostEvents} lost; ${accepted} messages, ${notSent} not sent, ${sentTwice} sent twice; ${wrongBalances} wrong balances; ${errors.length} errors logged`
      return { figure, ok: bad === 0 && received > 0 && accepted > 0 }
    } finally {
      await embedded.close()
      removeFolder(folder)
    }
  },
}
