/** Why a message failed and what to do about it, in plain words; for people, not for decisions (`errors.ts` has those). */
import type { MessageError } from '@parley/contract/events'
import { type ErrorScope, findError } from './errors.ts'

export interface Explanation {
  cause: string
  fix: string
}

export function explainError({ code }: Pick<MessageError, 'code'>): Explanation {
  const known = advice.get(code)
  if (known) return known
  const { scope, temporary } = findError({ code })
  return temporary ? passing : byScope[scope]
}

const token: Explanation = {
  cause:
    'The network does not accept the access token of this account: it expired, was withdrawn or lacks a permission.',
  fix: 'Ask the operator to give the connection a new token with the permissions whatsapp_business_messaging and whatsapp_business_management.',
}
const payment: Explanation = {
  cause: 'The network cannot charge the WhatsApp business account for this message.',
  fix: 'Add or repair the payment method of the account in Meta’s Business settings, then send again.',
}
const closedWindow: Explanation = {
  cause:
    'More than 24 hours have passed since this person last wrote. After that, the network only takes templates from you.',
  fix: 'Send an approved template. When the person answers, free text works again for 24 hours.',
}
const parameters: Explanation = {
  cause: 'The values do not fit the template as the network holds it, most often because it was changed meanwhile.',
  fix: 'Synchronise the templates, look at what the template needs now, and send again with those variables.',
}
const media: Explanation = {
  cause: 'The network could not get the file of this message, or does not take it.',
  fix: 'Check that the link opens without signing in, over https, and that type and size are ones WhatsApp takes.',
}
const registration: Explanation = {
  cause: 'The number is not properly registered with the network.',
  fix: 'Register the number again in Meta’s WhatsApp Manager, with its two-step PIN, then synchronise.',
}

const advice: ReadonlyMap<number | string, Explanation> = new Map<number | string, Explanation>([
  [
    'outcome_unknown',
    {
      cause: 'The call to the network broke off, and no status came for an hour. The message may have arrived or not.',
      fix: 'Ask the recipient, or send again if a second copy does no harm. The credits were given back.',
    },
  ],
  [
    'expired',
    {
      cause: 'The message could not be handed to the network within a day, so it was not worth sending any more.',
      fix: 'See whether the sender is connected and the network reachable, then send again.',
    },
  ],
  [
    'unreachable',
    {
      cause: 'The network could not be reached.',
      fix: 'Nothing is wrong with the message. Send it again; if it happens often, the operator should check the connection.',
    },
  ],
  [
    'unsendable',
    {
      cause: 'The request could not be put into the network’s words, for instance because its template is gone.',
      fix: 'Look at the details above, correct the request and send again.',
    },
  ],
  [0, token],
  [3, token],
  [10, token],
  [190, token],
  [131005, token],
  [
    368,
    {
      cause: 'Meta blocked the account for a while because of its policies.',
      fix: 'Open Account quality in Meta’s Business settings, see what was reported and ask for a review.',
    },
  ],
  [470, closedWindow],
  [131047, closedWindow],
  [
    130429,
    {
      cause: 'The number sent more messages in a moment than the network allows it.',
      fix: 'Nothing to mend: Parley slows down by itself. Spread large sends over more time or more numbers.',
    },
  ],
  [
    130472,
    {
      cause: 'The network runs an experiment and leaves this person out of marketing messages.',
      fix: 'Do not send it again; try another way to reach this person.',
    },
  ],
  [131021, { cause: 'The message goes to the number that sends it.', fix: 'Send to another number.' }],
  [
    131026,
    {
      cause:
        'The network could not hand it over. The number may have no WhatsApp, run an old version, or not have accepted the new terms.',
      fix: 'Check the number, then ask the person to update WhatsApp and to write to you first.',
    },
  ],
  [
    131030,
    {
      cause: 'The account is a test account, and this recipient is not on its list.',
      fix: 'Add the number to the allowed recipients in Meta’s app dashboard, or use a number of a live account.',
    },
  ],
  [
    131031,
    {
      cause: 'Meta locked the business account, for a policy or because the two-step PIN was wrong.',
      fix: 'Open Account quality in Meta’s Business settings and follow what it asks for.',
    },
  ],
  [
    131037,
    {
      cause: 'The display name of the number is not approved.',
      fix: 'Have the display name approved in Meta’s WhatsApp Manager.',
    },
  ],
  [131042, payment],
  [131044, payment],
  [131045, registration],
  [133000, registration],
  [133006, registration],
  [133010, registration],
  [
    131048,
    {
      cause: 'Too many people reported or blocked this number, so the network limits what it may send.',
      fix: 'Pause marketing, send only what people asked for, and watch the quality rating under Senders.',
    },
  ],
  [
    131049,
    {
      cause: 'The network held it back: this person has had enough marketing messages from businesses for now.',
      fix: 'Do not repeat it at once. Try after a day or more, or send something the person asked for.',
    },
  ],
  [
    131050,
    {
      cause: 'This person turned marketing messages from you off.',
      fix: 'Take them off your list for marketing. Utility templates still reach them.',
    },
  ],
  [131052, media],
  [131053, media],
  [
    131056,
    {
      cause: 'This number sent too many messages to the same person in a short time.',
      fix: 'Wait a while. Bundle what you have to say into fewer messages.',
    },
  ],
  [
    132001,
    {
      cause: 'The network knows no approved template of this name in this language.',
      fix: 'Synchronise the templates and choose one with the status APPROVED.',
    },
  ],
  [132000, parameters],
  [132008, parameters],
  [132012, parameters],
  [132018, parameters],
  [
    132005,
    {
      cause: 'With these values the text of the template becomes longer than the network takes.',
      fix: 'Send shorter values.',
    },
  ],
  [
    132015,
    {
      cause: 'The network paused the template because people reacted badly to it.',
      fix: 'Wait until it is resumed, or improve it in Meta’s WhatsApp Manager. Send another template meanwhile.',
    },
  ],
  [
    132016,
    {
      cause: 'The template was paused too often and is now disabled for good.',
      fix: 'Make a new template with other content.',
    },
  ],
  [
    132068,
    { cause: 'The form in this message is blocked.', fix: 'Look at the form’s health in Meta’s WhatsApp Manager.' },
  ],
  [
    137000,
    {
      cause: 'The person’s identity key changed, for instance with a new handset, and your account asks to check it.',
      fix: 'Make sure that it is still the same person, then send again.',
    },
  ],
])

const passing: Explanation = {
  cause: 'The network had a passing problem, and it lasted longer than Parley kept trying.',
  fix: 'Send again. If it persists, look at Meta’s status page.',
}

const byScope: Readonly<Record<ErrorScope, Explanation>> = {
  recipient: {
    cause: 'The network does not hand this message to this person.',
    fix: 'Check the number and whether the person still wants messages from you; another recipient is not affected.',
  },
  number: {
    cause: 'Something is not in order with the number that sends.',
    fix: 'Look at the number under Senders and in Meta’s WhatsApp Manager.',
  },
  waba: {
    cause: 'Something is not in order with the WhatsApp business account.',
    fix: 'Look at the account in Meta’s Business settings.',
  },
  app: {
    cause: 'Something is not in order with the app.',
    fix: 'The operator should look at the app in Meta’s dashboard.',
  },
  credentials: token,
  message: {
    cause: 'The network does not take this message as it is.',
    fix: 'Compare what was asked for with the network’s words above, correct it and send again.',
  },
}
