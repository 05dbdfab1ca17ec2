/** How the messages of an erased person are recognized. */

/** WhatsApp's ID of a message contains the number of the person. This and our ID replace it. */
const erasedId = /^erased:/

/** WhatsApp's ID of a message. Null if its person was erased. */
export const networkIdOf = (waMessageId: string | null): string | null =>
  waMessageId === null || erasedId.test(waMessageId) ? null : waMessageId

/** Whether the recipient of a sent message was erased. */
export const isErased = ({ recipient }: { recipient: string }): boolean => recipient === ''
