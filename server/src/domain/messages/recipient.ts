/** A person as the recipient of a message. WhatsApp sends to the number if there is one, and else to the user ID. */
export interface Recipient {
  number: string | null
  userId: string | null
}

/** `messages.recipient` is a phone number, or a user ID if the message is sent to that. This is the number, if it is one. */
export const numberIn = (recipient: string): string | null => (/^\d/.test(recipient) ? recipient : null)
