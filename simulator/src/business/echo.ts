import { newWamid } from '../ids.ts'
import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import { businessAction, messageContext, target } from '../phones/action.ts'
import { deletionOf, editOf, isDeletable, isEditable } from '../phones/amend.ts'
import { mediaMembers, mediaMessage } from '../phones/files.ts'
import { messageFor } from '../phones/find.ts'
import { contactOf, recipientOf } from '../phones/identity.ts'
import { requireQueueSpace, timestampOf } from '../phones/inbound.ts'
import { phoneFor } from '../phones/phones.ts'
import { contextOf } from '../phones/write.ts'
import { ControlError, object, oneOf, optional, phoneDigits, text } from '../shape.ts'
import { switchesFor } from '../switches.ts'
import { notifyNumber, withMetadata } from '../webhooks/notify.ts'
import { type Message, type Phone, type PhoneNumber, storeMessage } from '../world.ts'

/** Messages that a person of the business writes, edits and deletes in the WhatsApp Business app. */
export const echoActions = {
  /** With `media`, `text` is the content of the file, as in the actions of a phone. */
  echo: businessAction(
    object({
      phone: phoneDigits,
      replyTo: messageContext.replyTo,
      media: optional(oneOf('image', 'video', 'audio', 'voice', 'document', 'sticker')),
      ...mediaMembers,
    }),
    (network, number, { phone, replyTo, media, ...input }) => {
      requireBusinessApp(number)
      if (media === undefined && !input.text) throw new ControlError('text is required, or media.', 'text')
      const context = replyTo === undefined ? undefined : contextOf(network, number, { replyTo })
      const content = media
        ? mediaMessage(network, number, media, input)
        : { type: 'text', content: { body: input.text } }
      return { id: echo(network, number, phoneFor(network, phone), { ...content, context }) }
    },
  ),

  edit: businessAction(object({ phone: phoneDigits, ...target, text: text() }), (network, number, input) => {
    const [phone, message] = written(network, number, input, isEditable)
    const edit = editOf(network, message, input.text)
    const id = echo(network, number, phone, { type: 'edit', content: edit.webhook, amends: message.id })
    edit.record()
    return { id }
  }),

  delete: businessAction(object({ phone: phoneDigits, ...target }), (network, number, input) => {
    const [phone, message] = written(network, number, input, isDeletable)
    const deletion = deletionOf(network, message)
    const id = echo(network, number, phone, { type: 'revoke', content: deletion.webhook, amends: message.id })
    deletion.record()
    return { id }
  }),
}

/** A message that was written in the Business app: the given one, else the latest one to this phone. */
function written(
  network: Network,
  number: PhoneNumber,
  input: { phone: string; message?: string },
  fits: (message: Message) => boolean,
): [Phone, Message] {
  const phone = phoneFor(network, input.phone)
  const isWritten = (one: Message) => one.source === 'business_app' && one.numberId === number.id && fits(one)
  return [phone, messageFor(network, phone, input.message, isWritten, 'such a message from the Business app')]
}

interface Echo {
  type: string
  content: unknown
  context?: Json | undefined
  amends?: string
}

function echo(network: Network, number: PhoneNumber, phone: Phone, { type, content, context, amends }: Echo): string {
  requireQueueSpace(network, number)
  const { senderIdentity } = switchesFor(network.world, number, phone)
  const now = network.timers.now()
  const message: Message = {
    id: newWamid(phone.waId),
    direction: 'out',
    numberId: number.id,
    waId: phone.waId,
    type,
    content,
    at: now.toISOString(),
    contextId: typeof context?.id === 'string' ? context.id : null,
    journey: null,
    source: 'business_app',
    ...(amends === undefined ? {} : { amends }),
  }
  storeMessage(network.world, message)
  const value = {
    contacts: [contactOf(phone, senderIdentity)],
    message_echoes: [
      {
        ...(context ? { context } : {}),
        from: number.phoneNumber,
        ...recipientOf(phone, senderIdentity),
        id: message.id,
        timestamp: timestampOf(now),
        type,
        [type]: content,
      },
    ],
  }
  notifyNumber(network, number, phone, 'smb_message_echoes', withMetadata(number, value))
  network.log.publish({ name: 'message', data: message })
  network.changed()
  return message.id
}

export function requireBusinessApp(number: PhoneNumber): void {
  if (!number.isOnBizApp)
    throw new ControlError(
      `number: ${number.phoneNumber} is not used in the WhatsApp Business app. Set isOnBizApp with PATCH /control/numbers/${number.id}.`,
      'number',
      409,
    )
}
