/** Why a message failed and how to fix it, for people. `errors.ts` decides how the code handles each error. */
import type { MessageError } from '@parley/contract/events'
import { type ErrorScope, findError } from './errors.ts'

export interface Explanation {
  cause: string
  fix: string
}

export function explainError({ code }: Pick<MessageError, 'code'>): Explanation {
  const known = Object.hasOwn(advice, code) ? advice[code] : undefined
  if (known) return known
  const { scope, temporary } = findError({ code })
  return temporary ? temporaryError : byScope[scope]
}

const token: Explanation = {
  cause: 'WhatsApp rejected the access token of this account. It has expired, was revoked, or lacks a permission.',
  fix: 'Ask the operator to set a new token for the connection, with the permissions whatsapp_business_messaging and whatsapp_business_management.',
}
const payment: Explanation = {
  cause: 'WhatsApp cannot charge the business account for this message.',
  fix: 'Add or update the payment method of the account in Meta’s Business settings, then send the message again.',
}
const closedWindow: Explanation = {
  cause: 'The recipient’s last message is more than 24 hours old. After that, WhatsApp accepts only templates.',
  fix: 'Send an approved template. When the recipient replies, you can send any message for 24 hours.',
}
const parameters: Explanation = {
  cause: 'The variables do not match the template. Most often the template was changed in the meantime.',
  fix: 'Sync the templates under Messaging → Templates, check the variables of the template, and send the message again.',
}
const media: Explanation = {
  cause: 'WhatsApp could not download the file of this message, or does not support it.',
  fix: 'Check that the link is a public https link, and that WhatsApp supports the type and size of the file.',
}
const registration: Explanation = {
  cause: 'The phone number is not registered correctly with WhatsApp.',
  fix: 'Register the number again with its two-step PIN, under Messaging → Senders.',
}

const advice: Readonly<Record<number | string, Explanation>> = {
  outcome_unknown: {
    cause:
      'The connection to WhatsApp broke during the request, and no status arrived for an hour. The message may or may not have been delivered.',
    fix: 'Ask the recipient, or send the message again if a duplicate does no harm. The credits were refunded.',
  },
  expired: {
    cause: 'The message could not be sent to WhatsApp within 24 hours, so it expired.',
    fix: 'Check that the sender is connected and that WhatsApp is reachable, then send the message again.',
  },
  file_expired: {
    cause: 'The uploaded file of the message expired before the message was sent.',
    fix: 'Upload the file again and send the message with its new ID.',
  },
  unreachable: {
    cause: 'WhatsApp could not be reached.',
    fix: 'Send the message again. If this happens often, ask the operator to check the connection.',
  },
  unsendable: {
    cause: 'The message could not be converted to WhatsApp’s format, for example because its template was deleted.',
    fix: 'Check the error details, fix the request and send it again.',
  },
  0: token,
  3: token,
  10: token,
  190: token,
  131005: token,
  368: {
    cause: 'Meta blocked the account temporarily for a policy violation.',
    fix: 'Open Account quality in Meta’s Business settings to see the violation and request a review.',
  },
  470: closedWindow,
  131047: closedWindow,
  130429: {
    cause: 'The number sent more messages per second than WhatsApp allows.',
    fix: 'Parley slows down automatically. Spread large sends over more time or more numbers.',
  },
  130472: {
    cause: 'WhatsApp excluded the recipient from marketing messages as part of an experiment.',
    fix: 'Do not send the message again. Contact the recipient another way.',
  },
  130497: {
    cause: 'WhatsApp does not allow this business account to message people in the recipient’s country.',
    fix: 'Do not send to this country. Messages to other countries are not affected.',
  },
  131021: {
    cause: 'The recipient is the number that sends the message.',
    fix: 'Send the message to a different number.',
  },
  131026: {
    cause:
      'WhatsApp could not deliver the message. The number may not use WhatsApp, may have an old version, or may not have accepted the current terms.',
    fix: 'Check the number. Ask the recipient to update WhatsApp and to message you first.',
  },
  131030: {
    cause: 'The sender is a test number, and the recipient is not on its list of allowed numbers.',
    fix: 'Add the recipient to the allowed numbers in Meta’s app dashboard, or send from a production number.',
  },
  131031: {
    cause: 'Meta locked the business account for a policy violation, or because of a wrong two-step PIN.',
    fix: 'Open Account quality in Meta’s Business settings and follow the instructions.',
  },
  131037: {
    cause: 'The display name of the number is not approved.',
    fix: 'Request approval of the display name in Meta’s WhatsApp Manager.',
  },
  131042: payment,
  131044: payment,
  131045: registration,
  133000: registration,
  133006: registration,
  133010: registration,
  131048: {
    cause: 'Too many people reported or blocked this number, so WhatsApp limits how much it can send.',
    fix: 'Pause marketing messages, and check the quality rating under Messaging → Senders.',
  },
  131049: {
    cause: 'WhatsApp did not deliver the message, because the recipient got too many marketing messages recently.',
    fix: 'Do not retry immediately. Wait at least a day, or send a utility template instead.',
  },
  131050: {
    cause: 'The recipient turned off marketing messages from you.',
    fix: 'Remove the recipient from your marketing list. You can still send utility templates.',
  },
  131052: media,
  131053: media,
  131056: {
    cause: 'This number sent too many messages to the same recipient in a short time.',
    fix: 'Wait a while, then send fewer messages.',
  },
  131063: {
    cause: 'WhatsApp does not accept marketing templates from this account through the Cloud API.',
    fix: 'Send a utility template, or check the account in Meta’s WhatsApp Manager. Other messages are not affected.',
  },
  131064: {
    cause: 'The account has reached WhatsApp’s limit for starting conversations with templates.',
    fix: 'Send the message again later. Replies to people who wrote to you are not affected.',
  },
  132001: {
    cause: 'WhatsApp has no approved template with this name in this language.',
    fix: 'Sync the templates under Messaging → Templates, then choose one with the status APPROVED.',
  },
  132000: parameters,
  132008: parameters,
  132012: parameters,
  132018: parameters,
  132005: {
    cause: 'With these values, the text of the template is longer than WhatsApp allows.',
    fix: 'Use shorter values.',
  },
  132015: {
    cause: 'WhatsApp paused the template because of its low quality rating.',
    fix: 'Wait until it is resumed, or edit it in Meta’s WhatsApp Manager. Use a different template in the meantime.',
  },
  132016: {
    cause: 'The template was paused too often and is now permanently disabled.',
    fix: 'Create a new template with different content.',
  },
  132068: {
    cause: 'The form in this message is blocked.',
    fix: 'Check the status of the form in Meta’s WhatsApp Manager.',
  },
  137000: {
    cause:
      'The recipient’s identity key changed, for example with a new phone, and your account has identity checks turned on.',
    fix: 'Verify that it is still the same person, then send the message again.',
  },
}

const temporaryError: Explanation = {
  cause: 'WhatsApp had a temporary problem that lasted longer than the retries.',
  fix: 'Send the message again. If the error persists, check Meta’s status page.',
}

const byScope: Readonly<Record<ErrorScope, Explanation>> = {
  recipient: {
    cause: 'WhatsApp does not deliver this message to this recipient.',
    fix: 'Check the number, and whether the recipient still wants your messages. Other recipients are not affected.',
  },
  number: {
    cause: 'There is a problem with the sender’s phone number.',
    fix: 'Check the number under Messaging → Senders and in Meta’s WhatsApp Manager.',
  },
  waba: {
    cause: 'There is a problem with the WhatsApp business account.',
    fix: 'Check the account in Meta’s Business settings.',
  },
  app: {
    cause: 'There is a problem with the Meta app.',
    fix: 'Ask the operator to check the app in Meta’s app dashboard.',
  },
  service: temporaryError,
  template: {
    cause: 'WhatsApp does not accept this template.',
    fix: 'Sync the templates under Messaging → Templates, and check the template in Meta’s WhatsApp Manager.',
  },
  credentials: token,
  message: {
    cause: 'WhatsApp rejected this message.',
    fix: 'Compare the request with the error message from WhatsApp, fix it and send it again.',
  },
}
