import { type Resealed, resealSecrets } from '@parley/server/domain/health/reseal'
import { commandLine } from '../audit.ts'
import type { Command } from '../command.ts'
import { plural } from '../format.ts'
import { newProgress } from '../progress.ts'

export const commands: readonly Command[] = [
  {
    name: 'secrets reseal',
    details:
      'Use it after you put a new key in front of the old ones: PARLEY_SECRET_KEYS="new:…,old:…". First restart every process with the new value. The service keeps running, and you can stop the command and run it again.',
    examples: ['secrets reseal'],
    async run({ db, clock, config }) {
      const progress = newProgress()
      try {
        const done = await resealSecrets(await db(), clock, config.secretKeys(), commandLine, (kind, count) =>
          progress.say(`Encrypting ${kind.plural} (${count})`),
        )
        return { lines: linesOf(done), json: toJson(done), failed: done.stillUsed.size > 0 }
      } finally {
        progress.end()
      }
    },
  },
]

const total = ({ resealed }: Resealed): number => resealed.reduce((sum, { count }) => sum + count, 0)

function linesOf(done: Resealed): string[] {
  const { keyId, resealed, unreadable, stillUsed, notNeeded } = done
  const kinds = resealed.filter(({ count }) => count > 0).map(({ kind, count }) => plural(count, kind.singular))
  return [
    kinds.length > 0
      ? `Encrypted ${plural(total(done), 'secret')} with the key "${keyId}": ${kinds.join(', ')}.`
      : `Nothing to do: no secret needed to be encrypted with the key "${keyId}".`,
    ...(unreadable > 0
      ? [
          `${plural(unreadable, 'secret')} cannot be decrypted, because the key is missing. "./parley doctor" lists them.`,
        ]
      : []),
    ...[...stillUsed].map(
      ([id, count]) =>
        `The key "${id}" still encrypts ${plural(count, 'secret')}. Keep it. If PARLEY_SECRET_KEYS has it, restart every process with "${keyId}" as the first key and run this command again.`,
    ),
    ...notNeeded.map(
      (id) =>
        `The key "${id}" is needed only for backups that were made before this change. Remove it from PARLEY_SECRET_KEYS once every process runs with "${keyId}" as the first key.`,
    ),
  ]
}

const toJson = (done: Resealed) => ({
  object: 'reseal',
  key_id: done.keyId,
  resealed: total(done),
  by_kind: Object.fromEntries(done.resealed.map(({ kind, count }) => [kind.plural.replaceAll(' ', '_'), count])),
  unreadable: done.unreadable,
  keys_still_used: Object.fromEntries(done.stillUsed),
  keys_no_longer_needed: done.notNeeded,
})
