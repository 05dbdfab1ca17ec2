/** Why something did not arrive: what a message, an event or a number went through, with a verdict for each station. */
import { type Static, Type } from 'typebox'
import { nullable, Timestamp } from '../ids.ts'

/** `waiting`: not done yet, and nothing has to be done. `unknown`: it could not be checked. */
export const whyVerdicts = ['ok', 'waiting', 'unknown', 'warning', 'problem'] as const
export type WhyVerdict = (typeof whyVerdicts)[number]

const Verdict = Type.Unsafe<WhyVerdict>(Type.String({ enum: [...whyVerdicts] }))
const text = nullable(Type.String())

export const WhyStation = Type.Object({
  station: Type.String(),
  verdict: Verdict,
  at: nullable(Timestamp),
  message: Type.String(),
  remedy: text,
  /** For operators only. */
  details: Type.Array(Type.String()),
})
export type WhyStation = Static<typeof WhyStation>

export const WhyReport = Type.Object({
  object: Type.Literal('why'),
  about: Type.Object({
    kind: Type.Enum(['message', 'event', 'sender', 'account', 'contact', 'number']),
    id: Type.String(),
  }),
  verdict: Verdict,
  /** What is wrong, or that nothing is. */
  conclusion: Type.String(),
  remedy: text,
  stations: Type.Array(WhyStation),
  /** What Parley cannot see, if nothing is wrong. */
  unseen: Type.Array(Type.String()),
})
export type WhyReport = Static<typeof WhyReport>

/** An ID of a message, an event or a sender, WhatsApp's ID of a message, or a phone number. */
export const WhyQuery = Type.Object(
  { about: Type.String({ minLength: 1, maxLength: 300 }) },
  { additionalProperties: false },
)
