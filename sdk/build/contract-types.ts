import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCatalogue, errorCodes } from '@parley/contract/errors'
import { eventTypes, receivedEventSchemas } from '@parley/contract/events'
import { fieldErrors } from '@parley/contract/field-errors'
import { messageStatuses } from '@parley/contract/message'
import { sendTypes } from '@parley/contract/send'
import { declare, literals, type Schema } from './declare.ts'

/** Types of the contract that have no schema. */
const typesWithoutSchema: Record<string, string> = {
  ErrorCode: `export type ErrorCode = ${literals(errorCodes)}`,
  ErrorType: `export type ErrorType = ${literals([...new Set(Object.values(errorCatalogue).map(({ type }) => type))])}`,
  EventType: `export type EventType = ${literals(eventTypes)}`,
  Event: `/** An event; \`type\` determines the type of \`data\`. */\nexport type Event = ${Object.keys(receivedEventSchemas).map(interfaceName).join(' | ')}`,
  EventOf: "export type EventOf<T extends Event['type']> = Extract<Event, { type: T }>",
  FieldErrorCode: `export type FieldErrorCode = ${literals(Object.keys(fieldErrors))}`,
  MessageStatus: `export type MessageStatus = ${literals(messageStatuses)}`,
  SendType: `export type SendType = ${literals(sendTypes)}`,
  List: [
    '/** The envelope of every list. */',
    'export interface List<Item> {',
    "  object: 'list'",
    '  data: Item[]',
    '  /** The number of items on all pages, counted up to 10,000. */',
    '  total: number',
    '  /** False if there are more than `total`. */',
    '  total_is_exact: boolean',
    '  has_more: boolean',
    '  /** Pass it as `cursor` to get the next page. */',
    '  next_cursor: string | null',
    '}',
  ].join('\n'),
}

/** Self-contained declarations of all types that `src/contract.ts` re-exports. */
export async function declareContractTypes(): Promise<string> {
  const schemas = new Map<string, Schema>()
  const plain: string[] = []
  for (const { name, from } of reexportedTypes()) {
    const known = typesWithoutSchema[name]
    if (known) plain.push(known)
    else schemas.set(name, await schemaOf(name, from))
  }
  for (const [type, schema] of Object.entries(receivedEventSchemas)) schemas.set(interfaceName(type), schema as Schema)
  return `${[...plain, ...declare(schemas)].join('\n\n')}\n`
}

/** `message.sent` → `MessageSentEvent`, `sender.status_changed` → `SenderStatusChangedEvent` */
export function interfaceName(type: string): string {
  return `${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`
}

function reexportedTypes(): { name: string; from: string }[] {
  const text = readFileSync(join(import.meta.dirname, '..', 'src', 'contract.ts'), 'utf8')
  const types = [...text.matchAll(/export type \{([^}]+)\} from '([^']+)'/g)].flatMap(([, names = '', from = '']) =>
    names.split(',').flatMap((name) => (name.trim() === '' ? [] : [{ name: name.trim(), from }])),
  )
  if (types.length === 0) throw new Error('No re-exported types found in src/contract.ts. Did its syntax change?')
  return types
}

async function schemaOf(name: string, from: string): Promise<Schema> {
  const found = ((await import(from)) as Record<string, unknown>)[name]
  if (typeof found === 'object' && found !== null) return found as Schema
  throw new Error(`${from} has no schema for the type ${name}. Write it out in sdk/build/contract-types.ts.`)
}
