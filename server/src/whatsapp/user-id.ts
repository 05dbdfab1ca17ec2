const userId = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/

/** Whether a text is WhatsApp's ID of a person: the country, a dot and an ID. */
export const isUserId = (text: string): boolean => userId.test(text)
