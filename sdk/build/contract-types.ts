import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCatalogue, errorCodes } from '@parley/contract/errors'
import { eventSchemas, eventTypes } from '@parley/contract/events'
import { fieldErrors } from '@parley/contract/field-errors'
import { messageStatuses } from '@parley/contract/message'
import { sendTypes } from '@parley/contract/send'
import { declare, literals, type Schema } from './declare.ts'

/** Types of the contract that no schema stands behind. */
const written: Record<string, string> = {
  ErrorCode: `export type ErrorCode = ${literals(errorCodes)}`,
  ErrorType: `export type ErrorType = ${literals([...new Set(Object.values(errorCatalogue).map(({ type }) => type))])}`,
  EventType: `export type EventType = ${literals(eventTypes)}`,
  Event: `/** One event as it goes over the wire; \`type\` tells which. */\nexport type Event = ${eventTypes.map(interfaceName).join(' | ')}`,
  EventOf: 'export type EventOf<T extends EventType> = Extract<Event, { type: T }>',
  FieldErrorCode: `export type FieldErrorCode = ${literals(Object.keys(fieldErrors))}`,
  MessageStatus: `export type MessageStatus = ${literals(messageStatuses)}`,
  SendType: `export type SendType = ${literals(sendTypes)}`,
  List: [
    '/** The envelope of every list. */',
    'export interface List<Item> {',
    "  object: 'list'",
    '  data: Item[]',
    '  /** How many there are over all pages. */',
    '  total: number',
    '  has_more: boolean',
    '  /** Give it as `cursor` for the next page. */',
    '  next_cursor: string | null',
    '}',
  ].join('\n'),
}

/** The declarations of every word that `src/contract.ts` borrows, standing alone. */
export async function declareContractTypes(): Promise<string> {
  const schemas = new Map<string, Schema>()
  const plain: string[] = []
  for (const { name, from } of borrowedWords()) {
    const known = written[name]
    if (known) plain.push(known)
    else schemas.set(name, await schemaOf(name, from))
  }
  for (const type of eventTypes) schemas.set(interfaceName(type), eventSchemas[type] as Schema)
  return `${[...plain, ...declare(schemas)].join('\n\n')}\n`
}

/** `message.sent` → `MessageSentEvent` */
function interfaceName(type: string): string {
  return `${type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`
}

function borrowedWords(): { name: string; from: string }[] {
  const text = readFileSync(join(import.meta.dirname, '..', 'src', 'contract.ts'), 'utf8')
  const words = [...text.matchAll(/export type \{([^}]+)\} from '([^']+)'/g)].flatMap(([, names = '', from = '']) =>
    names.split(',').flatMap((name) => (name.trim() === '' ? [] : [{ name: name.trim(), from }])),
  )
  if (words.length === 0) throw new Error('src/contract.ts borrows no words; was it written in another way?')
  return words
}

async function schemaOf(name: string, from: string): Promise<Schema> {
  const found = ((await import(from)) as Record<string, unknown>)[name]
  if (typeof found === 'object' && found !== null) return found as Schema
  throw new Error(`${from} has no schema for the type ${name}. Write it out in sdk/build/contract-types.ts.`)
}
