/**
 * Everything that a workspace has about a person, as one JSON document. It is made piece by piece: a page of messages, or a part
 * of a file, is in memory at a time.
 */
import type { FlowResponseWithFiles } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { withIndexLookups } from '../../db/planner-settings.ts'
import type { Clock } from '../../lib/clock.ts'
import { withPrefix } from '../../lib/ids.ts'
import type { Position } from '../../lib/key-set.ts'
import { Refusal } from '../../lib/refuse.ts'
import { parkedOfPerson } from '../connections/parked-of-person.ts'
import { eventsNaming, eventsOfMessages } from '../deliveries/erase-events.ts'
import { fileStatesOf } from '../files/files.ts'
import { openReceivedFile, type StoredFile } from '../files/read.ts'
import { openFlowFile } from '../flows/flows.ts'
import { formsOfMessages } from '../flows/privacy.ts'
import {
  earlyStatusesOf,
  findPerson,
  handoversOf,
  idempotencyKeysOf,
  type KnownPerson,
  type NamedPerson,
  type ReceivedOfPerson,
  readsOf,
  receivedOfPerson,
  type SentOfPerson,
  savedContactsOf,
  sentOfPerson,
  userIdChangesOf,
} from '../messages/privacy/person.ts'
import { numberIn } from '../messages/recipient.ts'
import { ordersByMessage } from '../orders/orders.ts'
import { contentsMadeBy } from '../requests/inspector/contents.ts'
import { preferencesOf } from '../senders/preferences.ts'
import { updatesOfPerson } from '../updates/updates-of-person.ts'

/** Messages in memory at a time. One has at most a few hundred kilobytes with its events. */
const pageSize = 200

/** Pieces of the document, in order. If an error is thrown, the document is incomplete. */
export async function* exportPerson(
  db: Db,
  clock: Clock,
  workspaceId: string,
  named: NamedPerson,
): AsyncGenerator<string> {
  const person = await findPerson(db, workspaceId, named)
  const head = {
    object: 'person_export',
    account_id: workspaceId,
    exported_at: clock.now().toISOString(),
    numbers: person.numbers,
    user_ids: person.userIds,
  }
  yield open(head)
  yield* list('messages', sentMessages(db, person))
  yield* list('inbound_messages', receivedMessages(db, clock, person))
  const preferences = await preferencesOf(db, person)
  yield* list('marketing_preferences', toJson(preferences.map(withSender)))
  yield* list('handovers', toJson((await handoversOf(db, person)).map(withSender)))
  yield* list('saved_contacts', toJson((await savedContactsOf(db, person)).map(withSender)))
  yield* list('contact_reads', toJson(await readsOf(db, person)))
  yield* list('user_id_changes', toJson(await userIdChangesOf(db, person)))
  yield* list('early_statuses', toJson((await earlyStatusesOf(db, person)).map(withSender)))
  yield* list('idempotency_keys', toJson(await idempotencyKeysOf(db, person)))
  yield* list('parked_updates', webhooksAbout(parkedOfPerson(db, person.workspaceId, person)))
  yield* list('network_updates', webhooksAbout(updatesOfPerson(db, person.workspaceId, person)))
  yield* list('events', separated(eventsNaming(db, person)))
  yield '}\n'
}

const withSender = <Row extends { sender_id: string }>(row: Row) => ({
  ...row,
  sender_id: withPrefix('snd', row.sender_id),
})

/** A member of the document: a list, whose pieces begin with a comma where one is needed. */
async function* list(name: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield `,\n"${name}":[`
  yield* pieces
  yield ']'
}

/** Returns what comes before the next item of a list. */
function newSeparator(): () => string {
  let isFirst = true
  return () => {
    const separator = isFirst ? '\n' : ',\n'
    isFirst = false
    return separator
  }
}

async function* separated(items: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  const separator = newSeparator()
  for await (const item of items) yield separator() + item
}

const toJson = (rows: readonly object[]) => separated(rows.map((row) => JSON.stringify(row)))

async function* webhooksAbout(
  updates: AsyncIterable<{ receivedAt: Date; about: string | null }>,
): AsyncGenerator<string> {
  const separator = newSeparator()
  for await (const { receivedAt, about } of updates) {
    yield `${separator()}{"received_at":${JSON.stringify(receivedAt)},"webhook":${about}}`
  }
}

interface Message {
  id: string
  created_at: Date
}

type ReadPage<Row> = (db: Db, person: KnownPerson, after: Position, take: number) => Promise<Row[]>

/** Pages of messages, each with the events about them. */
async function* pagesOf<Row extends Message>(db: Db, person: KnownPerson, read: ReadPage<Row>) {
  let after: Position = { at: new Date(0), id: '00000000-0000-0000-0000-000000000000' }
  for (;;) {
    const rows = await withIndexLookups(db, (tx) => read(tx, person, after, pageSize))
    const last = rows.at(-1)
    if (!last) return
    const about = rows.map(({ id, created_at: createdAt }) => ({ id, createdAt }))
    const events = await withIndexLookups(db, (tx) => eventsOfMessages(tx, person.workspaceId, about))
    yield { rows, ids: about.map(({ id }) => id), events }
    after = { at: last.created_at, id: last.id }
  }
}

async function* sentMessages(db: Db, person: KnownPerson): AsyncGenerator<string> {
  const separator = newSeparator()
  for await (const { rows, events } of pagesOf<SentOfPerson>(db, person, sentOfPerson)) {
    const made = rows.map(({ request_id: requestId, created_at: createdAt }) => ({ requestId, createdAt }))
    const requests = await withIndexLookups(db, (tx) => contentsMadeBy(tx, person.workspaceId, made))
    for (const row of rows) {
      yield `${separator()}${open(toSent(row))},"content":${row.content},"events":${textOf(events.get(row.id))}`
      yield `,"api_request":${JSON.stringify(requests.get(row.request_id ?? '') ?? null)}}`
    }
  }
}

async function* receivedMessages(db: Db, clock: Clock, person: KnownPerson): AsyncGenerator<string> {
  const { workspaceId } = person
  const separator = newSeparator()
  for await (const { rows, ids, events } of pagesOf<ReceivedOfPerson>(db, person, receivedOfPerson)) {
    const forms = await formsOfMessages(db, workspaceId, ids)
    const orders = await ordersByMessage(db, workspaceId, ids)
    const files = await fileStatesOf(db, workspaceId, ids)
    for (const row of rows) {
      yield `${separator()}${open(toReceived(row))},"content":${row.content},"events":${textOf(events.get(row.id))}`
      yield `,"order":${JSON.stringify(orders.get(row.id) ?? null)},"file":`
      const isFetched = files.get(row.id)?.kind === 'fetched'
      const file = isFetched ? await unlessExpired(openReceivedFile(db, clock, workspaceId, row.id)) : null
      if (file) yield* contentText(file)
      else yield 'null'
      yield ',"flow_response":'
      const form = forms.get(row.id)
      if (form) yield* formText(db, clock, workspaceId, form)
      else yield 'null'
      yield '}'
    }
  }
}

/** The beginning of an object, without its end. */
const open = (row: object): string => JSON.stringify(row).slice(0, -1)

/** With the names of the API. The content, which may have numbers that JavaScript would round, is added as text. */
const toSent = ({
  content: _content,
  request_id: _request,
  id,
  sender_id,
  recipient,
  recipient_user_id,
  template_id,
  ...row
}: SentOfPerson) => ({
  id: withPrefix('msg', id),
  object: 'message',
  sender_id: withPrefix('snd', sender_id),
  to: numberIn(recipient),
  to_user_id: recipient_user_id,
  template_id: template_id && withPrefix('tpl', template_id),
  ...row,
})

const toReceived = ({ content: _, id, sender_id, sent_by, sent_by_user_id, source, ...row }: ReceivedOfPerson) => ({
  message_id: withPrefix('msg', id),
  object: 'inbound_message',
  sender_id: withPrefix('snd', sender_id),
  ...(source === null
    ? { from: sent_by, from_user_id: sent_by_user_id }
    : { to: sent_by, to_user_id: sent_by_user_id, source }),
  ...row,
})

/** A list of events, whose bodies are JSON. */
const textOf = (events: readonly string[] = []): string => `[${events.join()}]`

/** A submitted form, with the contents of its files in base64. */
async function* formText(
  db: Db,
  clock: Clock,
  workspaceId: string,
  { files, ...form }: FlowResponseWithFiles,
): AsyncGenerator<string> {
  yield `${open(form)},"files":[`
  for (const [index, file] of files.entries()) {
    yield `${index === 0 ? '' : ','}${open(file)},"content":`
    const isFetched = file.state.kind === 'fetched'
    const content = isFetched ? await unlessExpired(openFlowFile(db, clock, workspaceId, form.id, file.index)) : null
    if (content) yield* contentText(content)
    else yield 'null'
    yield '}'
  }
  yield ']}'
}

/** Null if its contents were deleted since the page of messages was read. */
const unlessExpired = (opening: Promise<StoredFile | null>): Promise<StoredFile | null> =>
  opening.catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'file_expired') return null
    throw error
  })

/** The content of a file in base64. */
async function* contentText({ size, read }: StoredFile): AsyncGenerator<string> {
  yield '"'
  if (size > 0) yield* base64(read({ first: 0, last: size - 1 }))
  yield '"'
}

/** Three bytes are four letters, so a piece whose size is no multiple of three continues in the next one. */
async function* base64(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece])
    const whole = bytes.length - (bytes.length % 3)
    yield bytes.toString('base64', 0, whole)
    rest = bytes.subarray(whole)
  }
  yield rest.toString('base64')
}
