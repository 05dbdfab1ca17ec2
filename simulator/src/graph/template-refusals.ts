import { GraphError } from '../network/errors.ts'

/** What WhatsApp answers to a template that breaks a rule: an error of code 100 with a text for people, and the subcode where it is known. */
const refusals = {
  exists: [
    2388024,
    'Content in this language already exists',
    'There is already content for this template in this language. Create a new template and try again.',
  ],
  length: [
    2388040,
    'Character limit exceeded',
    'A text is longer than it may be: a header and a footer have at most 60 characters, a body 1024 and a button 25.',
  ],
  example: [
    2388043,
    'Missing sample',
    'Message template component is missing expected field(s): add an example for each variable and for a media header.',
  ],
  header: [
    2388047,
    'Message header format is incorrect',
    "The message header can't have any new lines, formatting characters, emojis or asterisks, and has one variable at most.",
  ],
  body: [
    2388072,
    'Message body format is incorrect',
    'The message body is required, and its variables are written and numbered as {{1}}, {{2}} and so on, or all have names.',
  ],
  footer: [2388073, 'Message footer format is incorrect', "The message footer can't have any variables."],
  ratio: [
    2388293,
    'Too many variables for the length',
    'This template has too many variables for its length. Reduce the number of variables or increase the message length.',
  ],
  dangling: [
    2388299,
    "Variables can't be at the start or end of the template",
    'The template has variables at its start or end, or next to each other. Add text there.',
  ],
  buttons: [
    null,
    'Buttons are incorrect',
    'The template has too many buttons, or quick replies between other buttons.',
  ],
  status: [
    null,
    'Message template cannot be edited',
    'Only templates that are approved, rejected or paused can be edited.',
  ],
  category: [null, 'Category cannot be changed', 'The category of an approved template cannot be changed.'],
  edits: [
    null,
    'Too many edits',
    'An approved template can be edited once within 24 hours and 10 times within 30 days.',
  ],
} as const satisfies Record<string, readonly [subcode: number | null, title: string, message: string]>

export function refuseTemplate(kind: keyof typeof refusals): never {
  const [subcode, userTitle, userMessage] = refusals[kind]
  throw new GraphError(100, { plain: true, ...(subcode === null ? {} : { subcode }), userTitle, userMessage })
}
