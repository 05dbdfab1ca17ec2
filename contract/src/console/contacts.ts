/**
 * A contact as the console shows them: someone the workspace exchanged messages with. No table has contacts. The number
 * names one, or WhatsApp's user ID if WhatsApp does not provide the number.
 */
import { type Static, Type } from 'typebox'
import { userIdPattern } from '../formats.ts'
import { MessageId, nullable, SenderId, Timestamp } from '../ids.ts'
import { ConsoleForm } from './forms.ts'
import { consolePageQuery, SearchText } from './list.ts'
import { ExplainedError, ListedMessage, ReceivedContent } from './messages.ts'

export const ContactParams = Type.Object({
  contact: Type.String({
    pattern: `^[1-9][0-9]{4,19}$|${userIdPattern}`,
    errorMessage: 'Enter the digits of a phone number, or a user ID of WhatsApp.',
  }),
})

const text = nullable(Type.String())

/** A sender that the contact exchanged messages with. */
export const ContactSender = Type.Object({
  id: SenderId,
  phone_number: Type.String(),
  display_name: text,
  status: Type.String(),
  /** When the 24-hour window ends or ended. Null if the contact has not written to this sender. */
  window_expires_at: nullable(Timestamp),
  /** What the contact chose in WhatsApp about marketing messages from this sender. Null if nothing. */
  marketing: nullable(Type.Object({ choice: Type.Enum(['stop', 'resume']), changed_at: Timestamp })),
  last_message_at: Timestamp,
  /** The last change of who handles the conversation. Null if there was none. */
  control: nullable(
    Type.Object({ change: Type.Enum(['passed', 'taken']), previous_owner: text, new_owner: text, at: Timestamp }),
  ),
})

/** How many unread messages are counted. More are shown as "99+". */
export const unreadMax = 100

/** A row of the list of contacts. */
export const ListedContact = Type.Object({
  /** The number or the user ID, which names the contact in paths. */
  id: Type.String(),
  phone: text,
  user_id: text,
  username: text,
  /** As the WhatsApp Business app has saved it; otherwise the profile name. */
  name: text,
  last_message: Type.Pick(ListedMessage, [
    ...(['id', 'direction', 'source', 'at', 'type', 'status', 'preview', 'template_name', 'sender_id'] as const),
    ...(['error', 'removed'] as const),
  ]),
  /** What the contact wrote since somebody opened the conversation or answered. At most `unreadMax`. */
  unread: Type.Integer(),
  /** When the 24-hour window ends or ended, after the last message that the contact wrote to any sender. */
  window_expires_at: nullable(Timestamp),
  /** No marketing messages from the sender of the last message. */
  opted_out: Type.Boolean(),
  /** With a search: the message that has the words. Null if the name or the number matches. */
  match: nullable(Type.Object({ message_id: MessageId, excerpt: Type.String() })),
})

export const ContactListQuery = Type.Object({ ...consolePageQuery, q: SearchText }, { additionalProperties: false })

export const Contact = Type.Object({
  phone: text,
  user_id: text,
  username: text,
  profile_name: text,
  /** The name under which the WhatsApp Business app has saved the contact. */
  saved_name: text,
  /** The one of the newest message first. */
  senders: Type.Array(ContactSender),
  /** As in the list of contacts. */
  unread: Type.Integer(),
  /** Set while the contact is being erased. It waits while a message to them is not sent yet. */
  erasure: nullable(Type.Object({ asked_at: Timestamp, waits: Type.Boolean() })),
})

/** A message of a conversation, with everything that a phone would show. */
export const ConversationMessage = Type.Object({
  ...ListedMessage.properties,
  /** The request body, in the format of `POST /v1/messages`; null for inbound messages, and if it was removed. */
  request: nullable(Type.Record(Type.String(), Type.Unknown())),
  /** Of its template, as it is now. */
  components: nullable(Type.Array(Type.Unknown())),
  received: nullable(ReceivedContent),
  explained: nullable(ExplainedError),
  /** The newest text or caption of a message that was edited later. The message itself has the earlier one. */
  edit: nullable(Type.Object({ text, at: Timestamp })),
  /** Set if the message was deleted later. The message itself has the text that was deleted. */
  deletion: nullable(Type.Object({ at: Timestamp })),
  /** The message that this is a reply to, a reaction to, or an edit or a deletion of. Null if it is neither, or if that message is not stored. */
  about: nullable(Type.Pick(ListedMessage, ['id', 'direction', 'preview', 'type', 'template_name', 'at', 'removed'])),
  /** The submitted form, and its files. */
  form: nullable(Type.Pick(ConsoleForm, ['id', 'response', 'files', 'content_removed_at'])),
})

/** The latest messages of a conversation that are saved as a scenario. A longer one is no test. */
export const scenarioMessagesMax = 1000

export const ConversationQuery = Type.Object(consolePageQuery, { additionalProperties: false })

export type ListedContact = Static<typeof ListedContact>
export type Contact = Static<typeof Contact>
export type ContactSender = Static<typeof ContactSender>
export type ConversationMessage = Static<typeof ConversationMessage>
