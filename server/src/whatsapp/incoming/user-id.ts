import { userIdPattern } from '@parley/contract/formats'

const userId = new RegExp(userIdPattern)

/** Whether a text is WhatsApp's ID of a person: the country, a dot and an ID. */
export const isUserId = (text: string): boolean => userId.test(text)
