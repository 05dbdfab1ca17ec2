import { objectIn, textIn, toText } from '../../json.ts'
import { refuse, refuseParameter } from '../../network/errors.ts'
import type { PhoneNumber } from '../../world.ts'
import type { Call } from '../call.ts'

/** Marks a message as read and optionally shows the typing indicator. */
export function markRead({ network, body }: Call, number: PhoneNumber): unknown {
  if (body.status !== 'read') refuseParameter(`Param status must be one of {READ} - got "${toText(body.status)}".`)
  const id = textIn(body, 'message_id')
  if (!id) return refuseParameter('The parameter message_id is required.')
  const message = network.world.messages.get(id)
  if (message?.direction !== 'in' || message.numberId !== number.id)
    return refuse(131009, 'message_id is not a message this number received')
  const typing = body.typing_indicator === undefined ? undefined : textIn(objectIn(body, 'typing_indicator'), 'type')
  if (body.typing_indicator !== undefined && typing !== 'text')
    refuseParameter("Param typing_indicator['type'] must be one of {TEXT}.")
  message.receipt = 'seen'
  network.changed()
  network.log.publish({
    name: 'status',
    data: { id, waId: message.waId, status: 'seen_by_business', typing: typing === 'text' },
  })
  return { success: true }
}
