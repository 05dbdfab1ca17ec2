import type { Sender } from '@parley/contract/sender'
import { UsageError } from './command.ts'

/** The sender with this ID or phone number; without one, the first that is connected. */
export async function findSender<Found extends Sender>(
  source: { senders(): Promise<readonly Found[]> },
  text: string | undefined,
): Promise<Found> {
  const senders = await source.senders()
  const digits = text?.replaceAll(/[\s()+-]/g, '')
  const found =
    text === undefined
      ? senders.find(({ status }) => status === 'CONNECTED')
      : senders.find((each) => each.id === text || each.phone_number.replaceAll(/\D/g, '') === digits)
  if (found) return found
  if (text === undefined) throw new UsageError('The workspace has no connected sender.')
  const known = senders.map((each) => `${each.phone_number} (${each.id})`).join(', ') || 'none'
  throw new UsageError(`Sender "${text}" not found. The senders of the workspace: ${known}.`)
}
