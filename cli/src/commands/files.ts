import { type MoveProgress, type MoveResult, moveFiles, readTotals } from '@parley/server/domain/files/move'
import { openObjects } from '@parley/server/domain/files/store'
import { StartupError } from '@parley/server/lib/refuse'
import { ObjectStoreError } from '@parley/server/net/object-store'
import { silentLogger } from '@parley/server/telemetry/silent-logger'
import { change } from '../audit.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { plural } from '../format.ts'
import { newProgress } from '../progress.ts'
import { table } from '../table.ts'

export const commands: readonly Command[] = [
  {
    name: 'files status',
    examples: ['files status'],
    async run({ db, config }) {
      const totals = await readTotals(await db())
      const { database, s3, waiting, unused } = totals
      const rows = [
        ['database', String(database.files), formatBytes(database.bytes)],
        ['file store', String(s3.files), formatBytes(s3.bytes)],
      ]
      const isSet = config.objectStore !== null
      return {
        lines: [
          ...table(['STORE', 'FILES', 'SIZE'], rows, ''),
          '',
          `${plural(waiting, 'file')} to be downloaded from WhatsApp, ${plural(unused, 'object')} to be deleted from the file store.`,
          ...(!isSet && s3.files + unused > 0
            ? ['PARLEY_FILES_URL is not set, so the file store cannot be used.']
            : []),
        ],
        json: { object: 'files', database, s3, waiting, unused_objects: unused },
      }
    },
  },
  {
    name: 'files move',
    details:
      'Every copy is read and compared before the original is deleted. The service keeps running, and you can stop the command and run it again. With PARLEY_FILES_URL, the service itself moves files to the store in the background; this command is faster and shows progress.',
    options: { to: { value: 'STORE', required: true, help: 's3, the store in PARLEY_FILES_URL, or database' } },
    examples: ['files move --to s3', 'files move --to database'],
    run: (call) => move(call, readStore(call.option('to'))),
  },
]

function readStore(text: string | undefined): 's3' | 'database' {
  if (text === 's3' || text === 'database') return text
  throw new UsageError(`Invalid --to: "${text}". Use s3 or database.`)
}

async function move(call: Call, to: 's3' | 'database') {
  const settings = call.config.objectStore
  if (!settings) {
    throw new StartupError('PARLEY_FILES_URL is not set. Set it to your file store, also to move files back from it.')
  }
  if (to === 'database' && settings.takesNew) {
    throw new StartupError(
      'The service would move the files to the file store again. Set PARLEY_NEW_FILES=database, restart every process with it, and run this command with it.',
    )
  }
  const db = await call.db()
  const objects = await openObjects(db, settings, silentLogger)
  if (!objects) throw new Error('the store was not opened')
  const progress = newProgress()
  try {
    const done = await moveFiles(db, objects, to, newReport(progress.say, to))
    if (done.moved > 0) {
      const after = { to, files: done.moved, bytes: done.bytes }
      await change(call, (_tx, audit) => audit({ action: 'files.move', workspaceId: null, after }))
    }
    return { lines: linesOf(done, to), json: toJson(done, to), failed: done.damaged.length > 0 }
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error
    throw new StartupError(
      `The file store ${objects.name} failed: ${error.message}. Run this command again when it works: it continues.`,
    )
  } finally {
    progress.end()
    objects.close()
  }
}

/** Often enough to see that it works, and rare enough for a log. */
const reportEveryMs = 5_000

function newReport(say: (step: string) => void, to: 's3' | 'database') {
  let reportedMs = Number.NEGATIVE_INFINITY
  return ({ moved, movedBytes, files, bytes }: MoveProgress) => {
    if (performance.now() - reportedMs < reportEveryMs) return
    reportedMs = performance.now()
    say(`Moving files to ${nameOf(to)}: ${moved} of ${files}, ${formatBytes(movedBytes)} of ${formatBytes(bytes)}`)
  }
}

const nameOf = (store: 's3' | 'database'): string => (store === 's3' ? 'the file store' : 'the database')

function linesOf({ moved, bytes, damaged }: MoveResult, to: 's3' | 'database'): string[] {
  return [
    moved > 0
      ? `Moved ${plural(moved, 'file')} (${formatBytes(bytes)}) to ${nameOf(to)}.`
      : `Nothing to do: no file had to be moved to ${nameOf(to)}.`,
    ...(damaged.length > 0 ? [`${plural(damaged.length, 'file')} stayed, because they are damaged:`] : []),
    ...damaged.map(({ id, reason }) => `  ${id}: ${reason}`),
  ]
}

const toJson = ({ moved, bytes, damaged }: MoveResult, to: string) => ({
  object: 'files_moved',
  to,
  moved,
  bytes,
  damaged,
})

function formatBytes(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let [value, unit] = [bytes, 0]
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
