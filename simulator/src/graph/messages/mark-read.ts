import { objectIn, textIn, toText } from '../../json.ts'
import { refuse, refuseParameter } from '../../network/errors.ts'
import type { Message, PhoneNumber } from '../../world.ts'
import type { Call } from '../call.ts'
import { waitBeforeResponse } from './send-response.ts'

/** Marks a message and the earlier ones of its conversation as read, and optionally shows the typing indicator. */
export async function markRead({ network, body }: Call, number: PhoneNumber): Promise<unknown> {
  if (body.status !== 'read') refuseParameter(`Param status must be one of {READ} - got "${toText(body.status)}".`)
  const id = textIn(body, 'message_id')
  if (!id) return refuseParameter('The parameter message_id is required.')
  const message = network.world.messages.get(id)
  if (message?.direction !== 'in' || message.numberId !== number.id)
    return refuse(131009, 'message_id is not a message this number received')
  const typing = body.typing_indicator === undefined ? undefined : textIn(objectIn(body, 'typing_indicator'), 'type')
  if (body.typing_indicator !== undefined && typing !== 'text')
    refuseParameter("Param typing_indicator['type'] must be one of {TEXT}.")
  for (const each of upTo(message, network.world.messages.values())) {
    const isTyping = each === message && typing === 'text'
    if (each.receipt === 'seen' && each !== message) continue
    each.receipt = 'seen'
    const data = { id: each.id, waId: each.waId, status: 'seen_by_business', typing: isTyping }
    network.log.publish({ name: 'status', data })
  }
  network.changed()
  await waitBeforeResponse(network, number)
  return { success: true }
}

/** The message, and earlier messages of the phone to the number. */
function* upTo(message: Message, all: Iterable<Message>): Iterable<Message> {
  for (const each of all) {
    if (each.direction === 'in' && each.numberId === message.numberId && each.waId === message.waId) yield each
    if (each === message) return
  }
}
